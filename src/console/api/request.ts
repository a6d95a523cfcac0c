import type { Problem } from '../../shared/reasons/problems.ts';
import type { Params } from '../../shared/reasons/template.ts';
import { orElse, readAs } from './read-answer.ts';
import { problem, type Shape } from './shapes.ts';

/** An answer as its text: numbers are read from it with every digit, never through `response.json()`. */
type Answer = { status: number; text: string };

/** Why something failed: the page words `reason` and `params` in its language; `error` is the English of the service. */
export type Failure = {
  error: string;
  reason: string | null;
  params: Params;
  mayHaveRun: boolean | null;
  errors?: readonly Problem[] | undefined;
};

export const noFailure: Failure = { error: '', reason: null, params: {}, mayHaveRun: null };

/** What is to be said of anything that was thrown. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Refused) return error.failure;
  return { ...noFailure, error: error instanceof Error ? error.message : String(error) };
}

/** What a refusal, or an answer to a call that had none of its client, says of itself: of a gateway nothing. */
export const problemIn = (body: string) => orElse(() => readAs(problem, body), {});

/** The service answered, but not with what was asked for. The sentence is the service's own. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly failure: Failure;
  readonly mockId: string | null;
  /** The call, or an earlier one under its key, may have run all the same. */
  readonly mayHaveRun: boolean;
  constructor({ status, text: body }: Answer) {
    const { error, detail, code = null, reason = null, params = {}, mayHaveRun = null, ...more } = problemIn(body);
    super(error ?? detail ?? `HTTP ${status}`);
    this.status = status;
    this.code = code;
    this.mockId = more.mockId ?? null;
    this.failure = { error: this.message, reason, params, mayHaveRun, errors: more.errors };
    this.mayHaveRun = mayHaveRun === true;
  }
}

/** The service did not answer: no network, no service, a connection that broke, or a gateway that answered in its place. */
export class Unreachable extends Error {}

type Call = {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  body?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Is sent even when the page goes away meanwhile. */
  keepalive?: boolean;
};

let onSignedOut = () => {};

/** Told whenever the service says that there is no session, or no longer one. */
export function whenSignedOut(tell: () => void): void {
  onSignedOut = tell;
}

/** One call to the service. Throws `Refused` if the service refuses it, and `Unreachable` if the service did not answer. */
export async function request(
  path: string,
  { method = 'GET', body, headers = {}, signal, keepalive = false }: Call = {},
): Promise<Answer> {
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  let response: Response;
  let answer: Answer;
  try {
    response = await fetch(path, {
      method,
      keepalive,
      headers: { accept: 'application/json', ...type, ...headers },
      ...(body === undefined ? {} : { body }),
      ...(signal ? { signal } : {}),
    });
    hearClock(response.headers.get('date'));
    answer = { status: response.status, text: await response.text() };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Unreachable(`${method} ${path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  if (answer.status === 401) onSignedOut();
  if (response.ok) return answer;
  const refused = new Refused(answer);
  // A gateway answered instead of the service: what became of the call is not known.
  if (refused.code === null && refused.status >= 500) throw new Unreachable(refused.message);
  throw refused;
}

/** The answer to a GET. */
export async function getAs<T>(path: string, shape: Shape<T>, signal?: AbortSignal): Promise<T> {
  return readAs(shape, (await request(path, signal ? { signal } : {})).text);
}

/** A path with its query; what is null or empty is left out. */
export function withQuery(path: string, query: Record<string, string | null | readonly string[]>): string {
  const given = Object.entries(query).flatMap(([name, value]) => [value ?? []].flat().map((each) => [name, each]));
  const printed = new URLSearchParams(given.filter(([, value]) => value !== '')).toString();
  return printed === '' ? path : `${path}?${printed}`;
}

/** A difference below this is that of the header, which has whole seconds, and of the way. */
const SAME_MS = 2500;

let ahead = 0;

/** Learns from an answer by how much the service's clock is ahead of this reader's (RFC 9110, Date). */
function hearClock(date: string | null): void {
  const at = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(at)) return;
  const found = at - Date.now();
  ahead = Math.abs(found) < SAME_MS ? 0 : found;
}

/** The time by the service's clock, epoch ms: the times of runs are by that, and this reader's clock may be wrong. */
export function serviceNow(): number {
  return Date.now() + ahead;
}
