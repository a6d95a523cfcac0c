import { createMiddleware } from 'hono/factory';
import type { Environment } from './environment.ts';
import { noParameters, readParameters } from './parameters.ts';
import { badRequest } from './respond.ts';

/** Refuses a request that has parameters, where it changes something and takes none. */
export const takesNoParameters = () =>
  createMiddleware<Environment>(async (context, next) => {
    const read = readParameters(noParameters, context);
    return read.kind === 'bad' ? badRequest(read.problems) : next();
  });
