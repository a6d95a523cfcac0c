import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { batchBodySchema } from '../shared/contract/batches.ts';
import { DATA_FIELD } from '../shared/contract/data-field.ts';
import {
  type Execution,
  executionListSchema,
  executionSchema,
  type ListedExecution,
} from '../shared/contract/execution.ts';
import { outcomeSchema } from '../shared/contract/job.ts';
import { parseExact } from '../shared/contract/json/exact-json.ts';
import {
  type ExactValue,
  integerOf,
  isExactObject,
  RawNumber,
  stringifyExact,
} from '../shared/contract/json/raw-number.ts';
import { readProblem } from '../shared/contract/problem.ts';
import { json, pageOf, readAs } from '../shared/contract/wire.ts';

export type { Execution, ListedExecution };

/**
 * A value of JSON without loss: an integer that a JavaScript number would round is a bigint, and another number that it would round is an
 * `ExactNumber`.
 */
export type Exact =
  | null
  | boolean
  | string
  | number
  | bigint
  | ExactNumber
  | readonly Exact[]
  | { readonly [key: string]: Exact };
/** A number with the digits as they were written. */
export { RawNumber as ExactNumber };

type ExactNumber = RawNumber;

type Id = bigint | number | string;
export type CallerOptions = {
  /** Where the service is, such as `http://rules:8080`. */
  url: string;
  key?: string;
  /** A call that surely did not run, or that is safe to repeat under its Idempotency-Key, is repeated for so long. */
  retryForMs?: number;
};
export type RuleCall = {
  app: number;
  ruleId?: Id;
  confId?: Id;
  scene?: string;
  /** Epoch ms. */
  ts?: Id;
  target?: string;
  dryRun?: boolean;
  data?: { readonly [key: string]: Exact };
  /** Left out, each call has one of its own. Null: without one; then only what surely did not run is repeated. */
  idempotencyKey?: string | null;
  signal?: AbortSignal;
};
/** `text`: the answer as the client wrote it. `outcome`: null where it says none. */
export type RuleAnswer = {
  mockId: string;
  success: boolean;
  outcome: 'TRUE' | 'FALSE' | 'NONE' | null;
  data: { readonly [key: string]: Exact };
  error: Exact;
  text: string;
};
/** The parameters of GET executions, such as `ruleId`, `where` and `from`. */
export type HistoryQuery = { readonly [name: string]: Id | readonly string[] | undefined };
export type BatchAnswer = { batchId: string; state: string; counts: { readonly [verdict: string]: number } };
export type RuleCaller = {
  /** Runs a rule once. Throws `NotAnswered` where no client answered. */
  execute(call: RuleCall): Promise<RuleAnswer>;
  /** Executions, the newest first, page by page as they are read. */
  history(query?: HistoryQuery): AsyncGenerator<ListedExecution>;
  execution(mockId: string): Promise<Execution>;
  /** Runs a batch, a body of POST batches, to its end. */
  batch(
    body: { readonly [key: string]: Exact },
    options?: { idempotencyKey?: string; signal?: AbortSignal },
  ): Promise<BatchAnswer>;
  batchItems(batchId: string): AsyncGenerator<{ readonly [key: string]: Exact }>;
};

/**
 * Why a call has no answer. `mayHaveRun` is false only when nothing ran. `status`: 0 where nothing answered. Sent again under its
 * `idempotencyKey` it runs at most once.
 */
export class NotAnswered extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly mayHaveRun: boolean;
  readonly mockId: string | null;
  readonly idempotencyKey: string | null;
  constructor(status: number, body: string, idempotencyKey: string | null = null) {
    const problem = readProblem(body);
    super(problem.error ?? (body === '' ? `HTTP ${status}` : body.slice(0, 300)));
    this.status = status;
    this.code = problem.code ?? null;
    this.mayHaveRun = problem.mayHaveRun ?? true;
    this.mockId = problem.mockId ?? null;
    this.idempotencyKey = idempotencyKey;
  }
}

const BASE = '/rule-server/mock';
const RETRY_FOR_MS = 60_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5000;
const POLL_MS = 500;

/** Calls rules over HTTP, with every number exact in both directions. */
export function createRuleCaller({ url, key, retryForMs = RETRY_FOR_MS }: CallerOptions): RuleCaller {
  const base = url.replace(/\/+$/, '');
  const authorization: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const send = (path: string, request: Sent = {}) =>
    sendUntil(`${base}${BASE}/${path}`, { ...request, headers: { ...authorization, ...request.headers } }, retryForMs);
  const post = (path: string, { body, idempotencyKey, signal }: Post) =>
    send(path, {
      method: 'POST',
      body,
      signal,
      headers: {
        'content-type': 'application/json',
        ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
      },
    });

  async function* itemsOf<Item>(
    path: string,
    query: HistoryQuery,
    schema: z.ZodType<{ items: Item[]; nextCursor: string | null }>,
  ): AsyncGenerator<Item> {
    const search = new URLSearchParams();
    for (const [name, values] of Object.entries(query))
      for (const value of [values ?? []].flat()) search.append(name, String(value));
    for (;;) {
      const { items, nextCursor } = readAs(schema, await send(`${path}?${search}`));
      yield* items;
      if (nextCursor === null) return;
      search.set('cursor', nextCursor);
    }
  }

  return {
    async execute({ data = {}, idempotencyKey = crypto.randomUUID(), signal, ...call }) {
      const ids = { ruleId: idOf(call.ruleId), confId: idOf(call.confId), ts: idOf(call.ts) };
      const body = print({ ...call, ...ids, [DATA_FIELD]: data });
      const text = await post('execute', { body, idempotencyKey, signal });
      const { [DATA_FIELD]: after, error = 'null', ...answer } = readAs(answerSchema, text);
      return { ...answer, data: objectOf(after), error: exactOf(parseExact(error)), text };
    },
    history: (query = {}) => itemsOf('executions', query, executionListSchema),
    async execution(mockId) {
      return readAs(executionSchema, await send(`executions/${encodeURIComponent(mockId)}`));
    },
    async batch(body, { idempotencyKey = crypto.randomUUID(), signal } = {}) {
      let batch = readBatch(await post('batches', { body: print(body), idempotencyKey, signal }));
      while (batch.state === 'running' || batch.state === 'cancelling') {
        await setTimeout(POLL_MS, undefined, { signal });
        batch = readBatch(await send(`batches/${batch.batchId}`, { signal }));
      }
      return batch;
    },
    async *batchItems(batchId) {
      const items = itemsOf(`batches/${encodeURIComponent(batchId)}/items`, {}, z.object(pageOf(json)));
      for await (const item of items) yield objectOf(item);
    },
  };
}

type Post = { body: string; idempotencyKey: string | null; signal: AbortSignal | undefined };
type Sent = { method?: string; body?: string; headers?: Record<string, string>; signal?: AbortSignal | undefined };

const answerSchema = z.object({
  mockId: z.string(),
  success: z.boolean(),
  outcome: outcomeSchema.nullable().default(null),
  [DATA_FIELD]: json,
  error: json.optional(),
});
const batchSchema = batchBodySchema.pick({ batchId: true, state: true, counts: true });
const readBatch = (text: string): BatchAnswer => readAs(batchSchema, text);

/** The body of the answer. Repeats what may be repeated, as the service asks for it by Retry-After. */
async function sendUntil(url: string, { signal, ...request }: Sent, retryForMs: number): Promise<string> {
  const until = Date.now() + retryForMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    const { refused, retryAfter, text } = await attempt(url, { ...request, ...(signal && { signal }) });
    if (refused === null) return text;
    const wait = retryAfter === null ? pause : 1000 * retryAfter;
    if (!mayRepeat(request, refused, retryAfter) || Date.now() + wait > until) throw refused;
    await setTimeout(wait, undefined, { signal });
  }
}

async function attempt(url: string, request: RequestInit & { headers?: Record<string, string> }) {
  const key = request.headers?.['idempotency-key'] ?? null;
  try {
    const response = await fetch(url, request);
    const text = await response.text();
    const retryAfter = /^\d{1,6}$/.exec(response.headers.get('retry-after') ?? '')?.[0];
    return {
      text,
      refused: response.ok ? null : new NotAnswered(response.status, text, key),
      retryAfter: retryAfter === undefined ? null : Number(retryAfter),
    };
  } catch (error) {
    if (request.signal?.aborted) throw error;
    const why = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    return { text: '', refused: new NotAnswered(0, `${url} does not answer: ${why}`, key), retryAfter: null };
  }
}

/**
 * Reading is always repeatable. A call under a key is, where nothing answered or a gateway did, because it runs once however often it is sent.
 * Where the service answered, it says by Retry-After that a repeat makes sense; without a key that also needs the word that nothing ran.
 */
function mayRepeat(
  { method, headers }: Sent,
  { status, code, mayHaveRun }: NotAnswered,
  retryAfter: number | null,
): boolean {
  const isSafe = method === undefined || headers?.['idempotency-key'] !== undefined;
  if (status === 0 || (code === null && status >= 502)) return isSafe;
  return retryAfter !== null && (isSafe || !mayHaveRun);
}

const idOf = (id: Id | undefined) => (typeof id === 'string' ? new RawNumber(id) : id);

function print(body: { readonly [key: string]: Exact | undefined }): string {
  return stringifyExact(body);
}

function objectOf(text: string): { readonly [key: string]: Exact } {
  const value = parseExact(text);
  return isExactObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, exactOf(each)]))
    : {};
}

function exactOf(value: ExactValue): Exact {
  if (value instanceof RawNumber) return numberOf(value);
  if (Array.isArray(value)) return value.map(exactOf);
  if (!isExactObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, exactOf(each)]));
}

function numberOf(written: RawNumber): Exact {
  const number = Number(written.text);
  if (String(number) === written.text) return number;
  const integer = integerOf(written.text);
  if (integer === undefined) return written;
  return Number.isSafeInteger(number) && BigInt(number) === integer ? number : integer;
}
