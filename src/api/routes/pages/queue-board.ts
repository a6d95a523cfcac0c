import { Hono } from 'hono';
import { needs, needsEveryApp } from '../../access/permission.ts';
import type { Environment } from '../../http/environment.ts';
import { problem } from '../../http/respond.ts';
import type { BoardOptions } from '../../queue-board.ts';

const BASE = '/ops/queues';
/** The pages set styles in place; scripts, fonts and calls come from here and nowhere else. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

/** The queue dashboard. Loaded when somebody looks at it; only ever read. */
export function queueBoardRoutes({ queues, seesWorkers }: BoardOptions) {
  let loading: Promise<Hono> | undefined;
  const load = async () => (await import('../../queue-board.ts')).createQueueBoard(BASE, { queues, seesWorkers });

  return new Hono<Environment>()
    .use(`${BASE}/*`, needs('ops'), needsEveryApp())
    .get(`${BASE}/`, (context) => context.redirect(BASE))
    .all(`${BASE}/*`, async ({ req }) => {
      if (req.method !== 'GET' && req.method !== 'HEAD')
        return problem(405, 'The queue dashboard is for looking only: a retry would run a rule again.', {
          headers: { allow: 'GET, HEAD' },
        });
      loading ??= load();
      const answer = await (await loading).fetch(req.raw);
      if (!answer.headers.get('content-type')?.startsWith('text/html')) return answer;
      const headers = new Headers(answer.headers);
      headers.delete('content-length');
      headers.set('content-security-policy', POLICY);
      return new Response(withoutForeignLinks(await answer.text()), { status: answer.status, headers });
    });
}

/** The page would load its fonts from somebody else. */
function withoutForeignLinks(page: string): string {
  return page.replace(/<link [^>]*href="https?:[^>]*>/g, '');
}
