import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { readProblem } from '../../shared/contract/problem.ts';
import { readAs, UnexpectedAnswer } from '../../shared/contract/wire.ts';
import { exitCodeOfAnswer, exitCodeOfRefusal, exitCodes } from './exit-codes.ts';
import { CommandFailed } from './surroundings.ts';

export type HttpApi = ReturnType<typeof createHttpApi>;
type Call = { method?: string; headers?: Record<string, string>; body?: string; signal?: AbortSignal };

/** Errors before a connection exists, so nothing was sent. */
const NOT_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_.*|ERR_(TLS|SSL)_.*|.*CERT.*|UNABLE_TO_.*)$/;

/** No API answered. `wasSent`: the request may have arrived. */
class Unreached extends CommandFailed {
  readonly wasSent: boolean;
  constructor(url: string, error: unknown) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : null;
    super(
      `No API answers at ${url} (${cause?.message ?? error}). Start one, or name another with --url or RULE_SERVER_URL.`,
      exitCodes.unreachable,
    );
    this.wasSent = cause !== null && 'code' in cause && !NOT_SENT.test(`${cause.code}`);
  }
}

/** The HTTP interface as commands use it. Throws `CommandFailed` when it cannot be reached or does not know the key. */
export function createHttpApi({ url, key }: { url: string; key: string | undefined }) {
  const base = URL.canParse(url) ? url.replace(/\/+$/, '') : undefined;
  if (!base) throw new CommandFailed(`--url ${url} is not a URL such as http://127.0.0.1:8080.`, exitCodes.usage);

  const wrong = key === undefined ? -1 : key.search(/[^\x21-\x7e]/);
  if (wrong >= 0)
    throw new CommandFailed(
      `RULE_SERVER_KEY (--key) cannot be a key: its character ${wrong + 1} is not one of ASCII, or a space.`,
      exitCodes.usage,
    );

  async function open(path: string, { headers, ...more }: Call = {}): Promise<Response> {
    const authorization: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const response = await fetch(`${base}${path}`, { ...more, headers: { ...authorization, ...headers } }).catch(
      (error) => {
        if (more.signal?.aborted) throw error;
        throw new Unreached(url, error);
      },
    );
    if (response.status === 401)
      throw new CommandFailed(
        `The API at ${base} needs a key it knows: set RULE_SERVER_KEY, or give --key.`,
        exitCodes.unreachable,
      );
    return response;
  }

  return {
    base,
    /** An answer whose body is still to be read, such as a stream. */
    open,
    async call(path: string, call?: Call): Promise<{ status: number; text: string }> {
      const response = await open(path, call);
      const text = await response.text().catch((error) => {
        throw call?.signal?.aborted ? error : new Unreached(url, error);
      });
      return { status: response.status, text };
    },
  };
}

/** The sentence every answer but a result has. */
export function errorOf(text: string): string {
  return readProblem(text).error ?? text.slice(0, 500);
}

type Once = { key?: string | undefined; headers: Record<string, string>; body: string };

/**
 * Posts under an Idempotency-Key (`key` or a new one), so that it runs once even if a proxy before the API repeats it. Throws `CommandFailed`
 * if it was not accepted, with the key if it may have been.
 */
export async function postOnce(api: HttpApi, path: string, { key = randomUUID(), headers, body }: Once) {
  const again = ` It was sent under the Idempotency-Key ${key}.`;
  const call = { method: 'POST', headers: { ...headers, 'idempotency-key': key }, body };
  const { status, text } = await api.call(path, call).catch((error) => {
    throw error instanceof Unreached && error.wasSent
      ? new CommandFailed(`${error.message}${again}`, exitCodes.unknown)
      : error;
  });
  if (status === 202) return text;
  const exitCode = exitCodeOfRefusal(status, readProblem(text).mayHaveRun ?? false);
  throw new CommandFailed(`${errorOf(text)}${exitCode === exitCodes.unknown ? again : ''}`, exitCode);
}

/** Throws `CommandFailed` if the answer does not match the schema, as between two versions. */
export function readAnswer<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
  exitCode: number = exitCodes.unreachable,
): z.output<Schema> {
  try {
    return readAs(schema, text);
  } catch (error) {
    if (error instanceof UnexpectedAnswer || error instanceof SyntaxError)
      throw new CommandFailed(error.message, exitCode);
    throw error;
  }
}

const BASE = '/rule-server/mock';

/** The body of one answer, as it was written. Throws `CommandFailed` with its sentence when there is none. */
export async function get(
  api: HttpApi,
  path: string,
  query: URLSearchParams | Record<string, string | number | readonly string[] | null | undefined>,
) {
  const entries = query instanceof URLSearchParams ? [...query] : Object.entries(query);
  const given = entries.flatMap(([name, values]) => [values ?? []].flat().map((value) => [name, `${value}`]));
  const { status, text } = await api.call(`${BASE}/${path}?${new URLSearchParams(given)}`);
  if (status !== 200) throw new CommandFailed(errorOf(text), exitCodeOfAnswer(status), readProblem(text).code ?? null);
  return text;
}
