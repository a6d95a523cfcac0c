import type { HonoRequest } from 'hono';
import { createMiddleware } from 'hono/factory';
import { asksForNoEffects, NO_DRY_RUN } from '../calls/read-request.ts';
import type { Environment } from './environment.ts';
import { badRequest } from './respond.ts';

/**
 * Refuses what asks in its query string for a run without effects: that stands in the body, and a real run is not what was asked for.
 * `known`: the parameter that a request has for it, if it has one.
 */
export const realRunsOnly = (known: (req: HonoRequest) => string | undefined = () => undefined) =>
  createMiddleware<Environment>(async ({ req }, next) => {
    if (!req.url.includes('?')) return next(); // as nearly every call
    const asked = Object.entries(req.query()).filter(
      ([key, raw]) => key !== known(req) && asksForNoEffects({ key, raw }),
    );
    return asked.length > 0 ? badRequest(asked.map(([field]) => ({ field, message: NO_DRY_RUN }))) : next();
  });
