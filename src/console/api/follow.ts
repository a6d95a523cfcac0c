import { type Failure, Refused } from './request.ts';

/**
 * `live`: events arrive. `polling`: they do not, and asking every second is answered. `lost`: neither; the service was last heard
 * at `since`, epoch ms by this browser.
 */
export type Connection = { kind: 'live' } | { kind: 'polling' } | { kind: 'lost'; since: number };
export type Followed<Now> =
  | { kind: 'known'; now: Now; connection: Connection }
  /** The service does not know it (any more); `last` is what this page saw of it before. */
  | { kind: 'unknown'; last: Now | null; error: Failure }
  | { kind: 'unreachable' };

type What<Now> = {
  path: string;
  /** By event name: the new state, null if nothing changed, or `ask` if it has ended and must be fetched whole. */
  events: Readonly<Record<string, (data: string, last: Now | null) => Now | 'ask' | null>>;
  ask: () => Promise<Now>;
  isOver: (now: Now) => boolean;
};

const POLL_MS = 1000;

const isLive = (source: EventSource) => source.readyState === EventSource.OPEN;

/**
 * Follows something to its end by its events; while they are lost, by asking. Reports every change, and the end last. Returns how
 * to stop following, which stops nothing but the following.
 */
export function follow<Now>(
  { path, events, ask, isOver }: What<Now>,
  report: (followed: Followed<Now>) => void,
): () => void {
  const source = new EventSource(path);
  let last: Now | null = null;
  let heardAt = Date.now();
  let whileAsking: Connection = { kind: 'polling' };
  let isStopped = false;
  let poll: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    isStopped = true;
    source.close();
    clearTimeout(poll);
  };
  const tell = () =>
    last !== null && report({ kind: 'known', now: last, connection: isLive(source) ? { kind: 'live' } : whileAsking });
  const hear = (now: Now | 'ask' | null) => {
    if (isStopped || now === null) return;
    if (now === 'ask') {
      source.close();
      return void askNow();
    }
    last = now;
    heardAt = Date.now();
    whileAsking = { kind: 'polling' };
    if (isOver(now)) stop();
    tell();
  };
  const askNow = () => ask().then(onAnswer, onFailure);
  const askIn = (ms: number) => {
    clearTimeout(poll);
    if (!isStopped) poll = setTimeout(askNow, ms);
  };
  const onAnswer = (now: Now) => {
    // Events came again meanwhile, and may know more.
    if (isLive(source) && !isOver(now)) return;
    hear(now);
    askIn(POLL_MS);
  };
  const onFailure = (error: unknown) => {
    if (isStopped || isLive(source)) return;
    if (error instanceof Refused && (error.status === 404 || error.status === 410)) {
      stop();
      return report({ kind: 'unknown', last, error: error.failure });
    }
    whileAsking = { kind: 'lost', since: heardAt };
    if (last === null) report({ kind: 'unreachable' });
    else tell();
    askIn(POLL_MS);
  };

  for (const [name, read] of Object.entries(events))
    source.addEventListener(name, ({ data }: MessageEvent<string>) => hear(read(data, last)));
  source.addEventListener('open', () => {
    clearTimeout(poll);
    whileAsking = { kind: 'polling' };
    tell();
  });
  // A browser may give an event stream up for good; then asking goes on alone.
  source.addEventListener('error', () => askIn(0));
  return stop;
}
