import type { Context, MiddlewareHandler } from 'hono';
import type { Environment } from './environment.ts';

/** Does something about the answer, which is in `context.res`. */
type Leave = () => unknown;
type Entered = Response | Leave | undefined;

/** What a request passes on its way in: it refuses with a response, or tells what to do on the way out. */
export type Layer = (context: Context<Environment>) => Entered | Promise<Entered>;

/** Combines layers into one middleware, the outermost first, because an open call holds the frames of all middleware on its way. */
export function layers(...all: Layer[]): MiddlewareHandler<Environment> {
  return async (context, next) => {
    const leaves: Leave[] = [];
    const refusal = await enter(all, context, leaves);
    if (refusal) context.res = refusal;
    else await next();
    for (const leave of leaves.reverse()) await leave();
  };
}

async function enter(
  all: readonly Layer[],
  context: Context<Environment>,
  leaves: Leave[],
): Promise<Response | undefined> {
  for (const layer of all) {
    const entered = layer(context);
    const done = entered instanceof Promise ? await entered : entered;
    if (done instanceof Response) return done;
    if (done) leaves.push(done);
  }
  return undefined;
}

const nothing = async () => {};

/** A middleware of Hono that does everything before the answer is there. */
export const entering =
  (middleware: MiddlewareHandler): Layer =>
  async (context) =>
    (await middleware(context, nothing)) ?? undefined;

/** A middleware of Hono that does everything once the answer is there. */
export const leaving =
  (middleware: MiddlewareHandler): Layer =>
  (context) =>
  () =>
    middleware(context, nothing);

/** Layers of some paths only. */
export function at(paths: RegExp, ...some: Layer[]): Layer[] {
  return some.map((layer) => (context) => (paths.test(context.req.path) ? layer(context) : undefined));
}
