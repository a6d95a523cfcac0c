import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { executionSchema } from '../../shared/contract/execution.ts';
import { scanJson } from '../../shared/contract/json/exact-json.ts';
import { visibleJson, visibleLines } from '../../shared/contract/json/visible-text.ts';
import { textFaultOf } from '../../shared/reasons/text-faults.ts';
import { readText, textOf } from '../../shared/runtime/read-text.ts';
import { exitCodeOf, exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi, errorOf, type HttpApi, readAnswer } from '../terminal/http-api.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { beginRun, type Run } from './begin-run.ts';
import { statesOf } from './event-stream.ts';
import { showLiveStates } from './live-states.ts';
import { resultLines } from './print-result.ts';

type ExecOptions = Run & { data: string; url: string; key?: string; json?: boolean };

/** Runs a rule and prints what the client answered; resolves to the exit code. Ctrl-C cancels the execution. */
export async function exec(options: ExecOptions, surroundings: Surroundings): Promise<number> {
  const { stdin, stderr, onInterrupt } = surroundings;
  if (options.ruleId === undefined && options.confId === undefined)
    throw new CommandFailed('Say with --rule-id or --conf-id what to run.', exitCodes.usage);
  const api = createHttpApi({ url: options.url, key: options.key });
  const stub = options.stub === undefined ? undefined : objectText(options.stub, '--stub');
  const mockId = await beginRun(api, { ...options, stub }, await readData(options.data, stdin));
  const interrupted = new AbortController();
  onInterrupt(() => interrupted.abort());

  const live = stderr.isTTY && !options.json ? showLiveStates(stderr) : undefined;
  for await (const state of statesOf(api, mockId, interrupted.signal)) live?.reached(state);
  live?.close();
  if (interrupted.signal.aborted) {
    await api.call(`/rule-server/mock/executions/${mockId}`, { method: 'DELETE' });
    throw new CommandFailed(`Execution ${mockId} is being cancelled.`, exitCodes.interrupted);
  }
  return report(api, mockId, options, surroundings);
}

async function report(
  api: HttpApi,
  mockId: string,
  options: ExecOptions,
  { stdout, stderr }: Surroundings,
): Promise<number> {
  const { status, text } = await api.call(`/rule-server/mock/executions/${mockId}`).catch((error) => {
    const why = error instanceof CommandFailed ? error.message : String(error);
    return { status: 0, text: JSON.stringify({ error: why }) };
  });
  if (status !== 200)
    throw new CommandFailed(`How execution ${mockId} ended is not known: ${errorOf(text)}`, exitCodes.unknown);
  const execution = readAnswer(executionSchema, text, exitCodes.unknown);
  if (options.json) stdout.write(`${visibleJson(execution.result ?? 'null')}\n`);
  // Standard output is for what the client answered.
  else (execution.ending?.code == null ? stdout : stderr).write(visibleLines(resultLines(execution)));
  return exitCodeOf(execution);
}

/** The input of a rule as JSON text: given in place, in a file (`@path`), or on standard input (`-`). */
async function readData(given: string, stdin: Readable): Promise<string> {
  return objectText(await textAt(given, stdin).catch((error) => cannotRead(given, error)), '--data');
}

/** The text of a JSON object. `where`: the option that it stands in. */
function objectText(json: string, where: string): string {
  const scanned = scanJson(json);
  if (scanned.kind === 'complete' && scanned.type === 'object') return scanned.raw;
  const why = scanned.kind === 'complete' ? `is ${scanned.type}` : textFaultOf(scanned.whole);
  throw new CommandFailed(`${where} must be a JSON object: it ${why}.`, exitCodes.usage);
}

async function textAt(given: string, stdin: Readable): Promise<string> {
  if (given === '-') return textOf(await buffer(stdin));
  return given.startsWith('@') ? readText(given.slice(1)) : given;
}

function cannotRead(given: string, error: Error): never {
  throw new CommandFailed(`--data ${given} cannot be read: ${error.message}`, exitCodes.usage);
}
