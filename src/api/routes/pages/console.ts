import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import type { ConsoleFile } from '../../console-files.ts';
import type { Environment } from '../../http/environment.ts';
import { accepts } from '../../http/middleware.ts';

/**
 * The console at `/` and the files it is made of. They hold no secret and are served without a key; what the page shows it asks
 * the HTTP interface for.
 *
 * A content security policy for these files needs nothing but this origin: `default-src 'none'; script-src 'self'; style-src
 * 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`. Styles are set by
 * script only through properties and constructed style sheets, which a policy does not forbid.
 */
export function consoleRoutes(files: ReadonlyMap<string, ConsoleFile>) {
  const routes = new Hono<Environment>();
  for (const [path, file] of files) routes.get(path, serve(file));
  if (!files.has('/')) routes.get('/', (context) => context.text(NOT_BUILT, 200));
  return routes;
}

const NOT_BUILT =
  'The rule server runs. Its console has not been built: run "npm run build" and start again. The HTTP interface is below /rule-server/mock.\n';

function serve({ body, headers, compressed }: ConsoleFile) {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const all = { ...headers, etag, vary: 'accept-encoding' };
  return ({ req }: { req: { header: (name: string) => string | undefined } }) => {
    if (req.header('if-none-match') === etag) return new Response(null, { status: 304, headers: all });
    const taken = compressed.find(({ encoding }) => accepts(req.header('accept-encoding'), encoding));
    if (!taken) return new Response(body, { headers: all });
    return new Response(taken.body, { headers: { ...all, 'content-encoding': taken.encoding } });
  };
}
