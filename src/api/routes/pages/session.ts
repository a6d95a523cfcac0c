import { Hono } from 'hono';
import { callerSchema } from '../../../shared/contract/caller.ts';
import { parseJson } from '../../../shared/contract/json/parse-json.ts';
import { decodeWhole } from '../../../shared/contract/json/utf8.ts';
import { printAs } from '../../../shared/contract/wire.ts';
import { problemAt, problemOfFault } from '../../../shared/reasons/problems.ts';
import {
  type Access,
  callerOf,
  clearSession,
  comesFromHere,
  foreign,
  sessionOf,
  setSession,
} from '../../access/authenticate.ts';
import { sessionRequestSchema } from '../../access/sessions.ts';
import { readBody } from '../../calls/read-request.ts';
import type { Environment } from '../../http/environment.ts';
import { layers, takesNoParameters, warnOfParameters } from '../../http/middleware.ts';
import { badRequest, json, problem } from '../../http/respond.ts';

const MAX_BODY_BYTES = 4096;

/** GET /session says who asks, and what that key may do. POST /session trades a key for a session cookie, DELETE ends the session: for browsers, whose EventSource sends no headers. */
export function sessionRoutes({ keyring, sessions, origins }: Access) {
  return new Hono<Environment>()
    .get('/session', layers(warnOfParameters()), (context) => {
      const { name, may, apps } = callerOf(context);
      return json(200, printAs(callerSchema, { name, may: [...may], apps: apps && [...apps] }));
    })
    .post('/session', takesNoParameters(), async (context) => {
      if (context.req.header('origin') !== undefined && !comesFromHere(context, origins)) return foreign(context);
      const body = await readBody(context.env.incoming, MAX_BODY_BYTES);
      const decoded = body.kind === 'complete' ? decodeWhole(body.bytes) : null;
      if (decoded?.kind === 'wrong') return badRequest([problemOfFault('body', decoded.fault)]);
      const read = sessionRequestSchema.safeParse(decoded ? parseJson(decoded.text) : undefined);
      if (!read.success) return badRequest([problemAt('key', 'only-key', { example: '{"key":"…"}' })]);
      if (keyring.isOpen) return context.body(null, 204); // there is nothing to sign in to
      const found = keyring.find(read.data.key);
      if (found.kind === 'expired') return problem('key-expired', { name: found.name });
      const name = found.kind === 'known' ? found.caller.name : null;
      const token = name === null ? undefined : await sessions.issue(name);
      if (name === null || token === undefined) return problem('key-unknown', {});
      context.set('keyName', name);
      setSession(context, token);
      return context.body(null, 204);
    })
    .delete('/session', takesNoParameters(), async (context) => {
      if (context.req.header('origin') !== undefined && !comesFromHere(context, origins)) return foreign(context);
      const token = sessionOf(context);
      if (token !== undefined) {
        const found = await sessions.read(token);
        if (found.kind === 'known') context.set('keyName', found.caller.name ?? undefined);
        await sessions.end(token);
      }
      clearSession(context);
      return context.body(null, 204);
    });
}
