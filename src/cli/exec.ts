import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { scanJson } from '../shared/contract/exact-json.ts';
import { recordSchema } from '../shared/contract/execution-record.ts';
import { DATA_FIELD } from '../shared/contract/job.ts';
import { parseJson } from '../shared/contract/parse-json.ts';
import { visibleJson, visibleLines } from '../shared/contract/visible-text.ts';
import { statesOf } from './event-stream.ts';
import { exitCodeOf, exitCodeOfRefusal, exitCodes } from './exit-codes.ts';
import { createHttpApi, errorOf, type HttpApi } from './http-api.ts';
import { showLiveStates } from './live-states.ts';
import { resultLines } from './print-result.ts';
import { readData } from './read-data.ts';
import { CommandFailed, type Surroundings } from './surroundings.ts';

export type ExecOptions = {
  app: string;
  rule?: string;
  node?: string;
  ts?: string;
  data: string;
  target?: string;
  idempotencyKey?: string;
  url: string;
  key?: string;
  json?: boolean;
};

const acceptedSchema = z.object({ mockId: z.string() });
const refusedSchema = z.object({ mayHaveRun: z.boolean() });
const endedSchema = recordSchema.pick({ state: true, outcome: true });

/** Runs a rule and prints what the client answered; resolves to the exit code. Ctrl-C cancels the execution. */
export async function exec(options: ExecOptions, surroundings: Surroundings): Promise<number> {
  const { stdin, stdout, stderr, onInterrupt } = surroundings;
  const api = createHttpApi({ url: options.url, key: options.key });
  const mockId = await begin(api, options, await readData(options.data, stdin));
  const interrupted = new AbortController();
  onInterrupt(() => interrupted.abort());

  const live = stderr.isTTY && !options.json ? showLiveStates(stderr) : undefined;
  for await (const state of statesOf(api, mockId, interrupted.signal)) live?.reached(state);
  live?.close();
  if (interrupted.signal.aborted) {
    await api.call(`/rule-server/mock/executions/${mockId}`, { method: 'DELETE' });
    throw new CommandFailed(`Execution ${mockId} is being cancelled.`, exitCodes.interrupted);
  }
  return report(api, mockId, options, stdout);
}

async function begin(api: HttpApi, options: ExecOptions, data: string): Promise<string> {
  const headers = {
    'content-type': 'application/json',
    prefer: 'respond-async',
    // What stands between here and the API may send a call again when a connection breaks: under a key it still runs once.
    'idempotency-key': options.idempotencyKey ?? randomUUID(),
  };
  const { status, text } = await api.call('/rule-server/mock/execute', {
    method: 'POST',
    headers,
    body: requestBody(options, data),
  });
  if (status === 202) return acceptedSchema.parse(parseJson(text)).mockId;
  const mayHaveRun = refusedSchema.safeParse(parseJson(text)).data?.mayHaveRun ?? false;
  throw new CommandFailed(errorOf(text), exitCodeOfRefusal(status, mayHaveRun));
}

/** Numbers go out as they were typed: nothing here is turned into a JavaScript number. */
function requestBody({ app, rule, node, ts, target }: ExecOptions, data: string): string {
  const numbers = Object.entries({ app, ruleId: rule, confId: node, ts });
  const members = numbers.flatMap(([name, value]) => (value === undefined ? [] : [`"${name}":${asJson(value)}`]));
  if (target !== undefined) members.push(`"target":${JSON.stringify(target)}`);
  return `{${members.join(',')},${JSON.stringify(DATA_FIELD)}:${data}}`;
}

function asJson(value: string): string {
  return /^\d+$/.test(value) ? value.replace(/^0+(?=\d)/, '') : JSON.stringify(value); // the API says what is wrong with it
}

async function report(
  api: HttpApi,
  mockId: string,
  options: ExecOptions,
  stdout: Surroundings['stdout'],
): Promise<number> {
  const { status, text } = await api.call(`/rule-server/mock/executions/${mockId}`).catch((error) => {
    const why = error instanceof CommandFailed ? error.message : String(error);
    return { status: 0, text: JSON.stringify({ error: why }) };
  });
  const scanned = scanJson(text);
  const ended = endedSchema.safeParse(parseJson(text));
  if (status !== 200 || scanned.kind !== 'complete' || !ended.success)
    throw new CommandFailed(`How execution ${mockId} ended is not known: ${errorOf(text)}`, exitCodes.unknown);
  const result = scanned.members.find(({ key }) => key === 'result')?.raw ?? 'null';
  stdout.write(options.json ? `${visibleJson(result)}\n` : visibleLines(resultLines(result, text)));
  return exitCodeOf(ended.data);
}
