import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NoAnswer } from '../../../shared/contract/endings/no-answer.ts';
import { noAnswerBody } from '../../../shared/contract/execution-record.ts';
import { random } from '../../../shared/ports/random.ts';
import { retryAfterOf } from '../../../shared/reasons/endings.ts';
import type { Audit } from '../../../shared/runtime/access/audit.ts';
import type { Keyring } from '../../../shared/runtime/access/keyring.ts';
import type { Logger } from '../../../shared/runtime/telemetry/logger.ts';
import type { Metrics } from '../../../shared/runtime/telemetry/metrics.ts';
import type { RequestMetrics } from '../../api-metrics.ts';

const EXECUTE = '/rule-server/mock/execute';
/** A body up to this size is read to its end, and the connection serves on. Behind a larger one it is closed. */
const READ_BYTES = 64 * 1024;
/** A refusal is sent so late: callers that come again at once would take the time from the calls that are served. */
const HOLD_MS = 1000;
/** A caller that still sends its body has so long to read the answer. A connection that is closed before loses the answer. */
const LINGER_MS = 2000;
const TOLD_EVERY_MS = 1000;

type RefuseEarlyDependencies = {
  keyring: Keyring;
  /** Why no call is begun now; undefined also where somebody else says why not. */
  whyNot: () => NoAnswer | undefined;
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
 */
export function refuseEarly({ keyring, whyNot, metrics, count, log, audit }: RefuseEarlyDependencies) {
  const tell = tellOnceASecond(log, audit);

  return (incoming: IncomingMessage, outgoing: ServerResponse): boolean => {
    const noAnswer = isPlainCall(incoming) ? whyNot() : undefined;
    if (!noAnswer) return false;
    const keyName = keyNameOf(incoming, keyring);
    if (keyName === undefined) return false;
    incoming.on('error', () => {}).resume();
    setTimeout(answer, HOLD_MS, incoming, outgoing, noAnswer);
    metrics.refused(noAnswer.code);
    count({ route: EXECUTE, method: 'POST', status: 503 });
    tell(keyName);
    return true;
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

/** Answers while the rest of the request is read and thrown away. */
function answer(incoming: IncomingMessage, outgoing: ServerResponse, noAnswer: NoAnswer): void {
  const body = noAnswerBody(random.uuid(), noAnswer);
  const isSmall = Number(incoming.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= READ_BYTES;
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'retry-after': String(retryAfterOf(noAnswer)),
    'cache-control': 'no-store',
  };
  outgoing.writeHead(503, isSmall ? headers : { ...headers, connection: 'close' });
  if (isSmall || incoming.complete) return void outgoing.end(body);
  outgoing.write(body);
  const end = () => outgoing.end();
  const timer = setTimeout(end, LINGER_MS);
  incoming.once('close', () => clearTimeout(timer)).once('end', end);
}

/** How many calls were refused: a line in the log for all, and one in the audit log for each key. */
function tellOnceASecond(log: Logger, audit: Audit): (who: string | null) => void {
  const refused = new Map<string | null, number>();
  const event = { what: `refused POST ${EXECUTE}`, from: null, outcome: '503 overloaded' };
  return (who) => {
    if (refused.size === 0) setTimeout(tell, TOLD_EVERY_MS).unref();
    refused.set(who, (refused.get(who) ?? 0) + 1);
  };

  function tell(): void {
    const all = [...refused.values()].reduce((sum, calls) => sum + calls, 0);
    log.warn({ refused: all }, 'calls were refused: they come faster than the workers can begin them');
    for (const [who, calls] of refused) audit.tell({ ...event, who, calls });
    refused.clear();
  }
}
