import { z } from 'zod';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { readAs, UnexpectedAnswer } from '../../shared/contract/wire.ts';
import { exitCodeOfAnswer, exitCodes } from './exit-codes.ts';
import { CommandFailed } from './surroundings.ts';

export type HttpApi = ReturnType<typeof createHttpApi>;
type Call = { method?: string; headers?: Record<string, string>; body?: string; signal?: AbortSignal };

const errorSchema = z.object({ error: z.string() });

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
        const why = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
        throw new CommandFailed(
          `No API answers at ${base} (${why}). Start one, or name another with --url or RULE_SERVER_URL.`,
          exitCodes.unreachable,
        );
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
      return { status: response.status, text: await response.text() };
    },
  };
}

/** The sentence every answer but a result has. */
export function errorOf(text: string): string {
  return errorSchema.safeParse(parseJson(text)).data?.error ?? text.slice(0, 500);
}

/** Reads an answer by its schema. Throws `CommandFailed` when it is another one, as after an update of one side. */
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
  query: Record<string, string | number | readonly string[] | null | undefined>,
) {
  const given = Object.entries(query).flatMap(([name, values]) =>
    [values ?? []].flat().map((value) => [name, `${value}`]),
  );
  const { status, text } = await api.call(`${BASE}/${path}?${new URLSearchParams(given)}`);
  if (status !== 200) throw new CommandFailed(errorOf(text), exitCodeOfAnswer(status));
  return text;
}
