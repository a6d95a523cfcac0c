import type { AsyncLocalStorage } from 'node:async_hooks';
import { messageOf } from '../engine/evaluate.ts';
import type { Selection } from '../engine/selection.ts';

/** The run that a piece of code belongs to, also long after the leaf has returned. */
type Origin = { what: string; leaf: { name: string; id: bigint } | null; onError: (error: unknown) => void };

/** Without Node an error that comes after a leaf has returned cannot be traced to the leaf. */
const node = typeof process === 'undefined' ? undefined : process;
const origins: AsyncLocalStorage<Origin> | undefined = openStorage();

/** Not imported, so that a bundle for a browser needs no stand-in. */
function openStorage(): AsyncLocalStorage<Origin> | undefined {
  const hooks = node?.getBuiltinModule?.('node:async_hooks');
  return hooks && new hooks.AsyncLocalStorage<Origin>();
}

/** Marks our listeners: another copy of this package in the process has its own. */
const OURS = Symbol.for('rule-client.stray-errors');
const HANDLED = Symbol.for('rule-client.stray-error-handled');
let watched = 0;

/**
 * Keeps stray errors of leaves from ending the process: a rejected promise that no leaf awaits, an exception in a timer. Each is reported with
 * its rule, node and leaf. Errors from elsewhere are handled as if there were no listener.
 */
export function watchStrayErrors(): () => void {
  if (node === undefined) return () => {};
  if (watched++ === 0) {
    process.on('unhandledRejection', onRejection);
    process.on('uncaughtException', onException);
  }
  let stopped = false;
  return () => {
    if (stopped) return;
    stopped = true;
    if (--watched > 0) return;
    process.off('unhandledRejection', onRejection);
    process.off('uncaughtException', onException);
  };
}

/** Runs the leaves of one run so that their stray errors and late puts are attributed to them. */
export function strayContext(selection: Pick<Selection, 'ruleId' | 'confId'>, onError: (error: unknown) => void) {
  const what = selection.ruleId === null ? `node ${selection.confId}` : `rule ${selection.ruleId}`;
  return {
    /** Runs code as that of a leaf, or with null as code of the run itself. */
    within: <T>(leaf: Origin['leaf'], work: () => T): T =>
      origins ? origins.run({ what, leaf, onError }, work) : work(),
    onLatePut(key: string): void {
      const who = nameOf(origins?.getStore()?.leaf);
      onError(new Error(`${who} put "${key}" after the run of ${what} had ended: it is lost (is an await missing?)`));
    },
  };
}

const onRejection = Object.assign(
  (reason: unknown): void => {
    if (tell('a promise that it did not wait for was rejected', reason)) return;
    if (!isForeign('unhandledRejection', onRejection)) return;
    // Without a listener Node throws it as an exception, unless `--unhandled-rejections` says otherwise.
    if (!/--unhandled-rejections/.test(`${process.execArgv} ${process.env.NODE_OPTIONS}`)) throw reason;
  },
  { [OURS]: true },
);

const onException = Object.assign(
  (error: unknown): void => {
    if (tell('it threw where nobody catches', error)) return;
    if (!isForeign('uncaughtException', onException)) return;
    // Thrown again without a listener, so that Node ends the process in its own way.
    process.off('uncaughtException', onException);
    process.nextTick(() => {
      throw error;
    });
  },
  { [OURS]: true },
);

/** Whether the error came from a leaf; its client then reports it. */
function tell(what: string, cause: unknown): boolean {
  const origin = origins?.getStore();
  if (origin === undefined) return isHandled(cause);
  markHandled(cause);
  const who = nameOf(origin.leaf, ` of ${origin.what}`);
  origin.onError(new Error(`${who} left an error behind, ${what}: ${messageOf(cause)}`, { cause }));
  return true;
}

function nameOf(leaf: Origin['leaf'] | undefined, where = ''): string {
  return leaf ? `${leaf.name} (node ${leaf.id}${where})` : `a leaf${where}`;
}

/** Another copy of this package may have reported it already. */
const isHandled = (cause: unknown): boolean => typeof cause === 'object' && cause !== null && HANDLED in cause;

function markHandled(cause: unknown): void {
  if (typeof cause === 'object' && cause !== null && Object.isExtensible(cause))
    Object.defineProperty(cause, HANDLED, { value: true });
}

/** Whether only copies of this package listen, and this is the one to act for all of them. */
function isForeign(event: 'unhandledRejection' | 'uncaughtException', own: unknown): boolean {
  const listeners: unknown[] = process.listeners(event);
  const onlyOurs = listeners.every((listener) => typeof listener === 'function' && OURS in listener);
  return onlyOurs && listeners.at(-1) === own;
}
