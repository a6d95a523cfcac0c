import type { IncomingMessage, ServerResponse } from 'node:http';
import { noAnswerBody } from '../../../shared/contract/execution-record.ts';
import type { Audit } from '../../../shared/runtime/access/audit.ts';
import type { Keyring } from '../../../shared/runtime/access/keyring.ts';
import type { Logger } from '../../../shared/runtime/telemetry/logger.ts';
import type { Metrics } from '../../../shared/runtime/telemetry/metrics.ts';
import { random } from '../../../shared/seams/random.ts';
import type { RequestMetrics } from '../../api-metrics.ts';
import type { Overload } from '../../overload/overload.ts';

const EXECUTE = '/rule-server/mock/execute';
/** A body up to this size is read to its end, and the connection serves on. Behind a larger one it is closed. */
const READ_BYTES = 64 * 1024;
/** A caller that still sends its body has so long to read the answer. A connection that is closed before loses the answer. */
const LINGER_MS = 2000;
const TOLD_EVERY_MS = 1000;

type RefuseEarlyDependencies = {
  overload: Overload;
  keyring: Keyring;
  /** Whether calls are taken at all; otherwise somebody else says why not. */
  takesCalls: () => boolean;
  metrics: Pick<Metrics, 'refused'>;
  /** Counts a request by its route and status. */
  count: RequestMetrics['count'];
  log: Logger;
  audit: Audit;
};

export type RefuseEarly = ReturnType<typeof refuseEarly>;

/**
 * Refuses plain calls for load before anything else is done for them, and answers true then. All others go on: with an Idempotency-Key a
 * call may be the repeat of one that runs, and what a browser or a proxy sends needs more looks than these. They are refused when they begin.
 * A share of the calls is refused once they would wait 10 % of `QUEUE_TIMEOUT_MS`, and all of them from 30 % on (`overload.ts`).
 */
export function refuseEarly({ overload, keyring, takesCalls, metrics, count, log, audit }: RefuseEarlyDependencies) {
  const asked = new WeakSet<IncomingMessage>();
  const tell = tellOnceASecond(log, audit);

  return {
    /** Whether this call was asked about here, and may go on. */
    wasAsked: (incoming: IncomingMessage): boolean => asked.has(incoming),
    refuses(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
      if (!isPlainCall(incoming) || !takesCalls()) return false;
      const keyName = keyNameOf(incoming, keyring);
      if (keyName === undefined) return false;
      asked.add(incoming);
      const refusal = overload.refusal(keyName);
      if (!refusal) return false;
      const body = noAnswerBody(random.uuid(), refusal.noAnswer);
      answer(incoming, outgoing, { body, retryAfterSeconds: refusal.retryAfterSeconds });
      metrics.refused(refusal.noAnswer.code);
      count({ route: EXECUTE, method: 'POST', status: 503 });
      tell(keyName);
      return true;
    },
  };
}

function isPlainCall({ method, url, headers }: IncomingMessage): boolean {
  return (
    method === 'POST' &&
    url === EXECUTE &&
    headers['idempotency-key'] === undefined &&
    headers.origin === undefined &&
    headers.cookie === undefined
  );
}

/** The name of the key, null where none is needed; undefined where only the whole way in can tell who this is. */
function keyNameOf({ headers }: IncomingMessage, keyring: Keyring): string | null | undefined {
  if (keyring.isOpen) return null;
  const key = keyring.bearerOf(headers.authorization);
  const found = key === undefined ? undefined : keyring.find(key);
  return found?.kind === 'known' ? found.caller.name : undefined;
}

type Refused = { body: string; retryAfterSeconds: number };

/** Answers, then reads the rest of the request and throws it away. */
function answer(incoming: IncomingMessage, outgoing: ServerResponse, { body, retryAfterSeconds }: Refused): void {
  const isSmall = Number(incoming.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= READ_BYTES;
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'retry-after': String(retryAfterSeconds),
    'cache-control': 'no-store',
  };
  incoming.on('error', () => {}).resume();
  if (isSmall) return void outgoing.writeHead(503, headers).end(body);
  outgoing.writeHead(503, { ...headers, connection: 'close' }).write(body);
  const end = () => outgoing.end();
  const timer = setTimeout(end, LINGER_MS);
  incoming.once('close', () => clearTimeout(timer)).once('end', end);
}

/** How many calls were refused: a line in the log for all, and one in the audit log for each key. */
function tellOnceASecond(log: Logger, audit: Audit): (who: string | null) => void {
  const refused = new Map<string | null, number>();
  const told = { what: `refused POST ${EXECUTE}`, from: null, outcome: '503 overloaded' };
  return (who) => {
    if (refused.size === 0) setTimeout(tell, TOLD_EVERY_MS).unref();
    refused.set(who, (refused.get(who) ?? 0) + 1);
  };

  function tell(): void {
    const all = [...refused.values()].reduce((sum, calls) => sum + calls, 0);
    log.warn({ refused: all }, 'calls were refused: they come faster than the workers can begin them');
    for (const [who, calls] of refused) audit.tell({ ...told, who, calls });
    refused.clear();
  }
}
