import type { Context } from 'hono';
import type { Environment } from './environment.ts';
import { layers } from './layers.ts';
import { noParameters, readParameters } from './parameters.ts';
import { badRequest } from './respond.ts';

/** Refuses a request that has parameters, where it changes something and takes none. */
export const takesNoParameters = () => layers(refusedParameters);

export function refusedParameters(context: Context<Environment>): Response | undefined {
  const read = readParameters(noParameters, context);
  return read.kind === 'bad' ? badRequest(read.problems) : undefined;
}
