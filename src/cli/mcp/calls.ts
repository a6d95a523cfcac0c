import { joinMembers, parseExact, scanJson } from '../../shared/contract/json/exact-json.ts';
import { type ExactObject, isExactObject, stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { field, list } from '../../shared/contract/json/read-exact.ts';
import { beginRun } from '../runs/begin-run.ts';
import { statesOf } from '../runs/event-stream.ts';
import { explainRun } from '../runs/explain-run.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { get, type HttpApi } from '../terminal/http-api.ts';
import { CommandFailed } from '../terminal/surroundings.ts';

/** A tree that is longer is left out of an explanation: an assistant reads no more at a time. */
const MAX_TREE = 200_000;
const BASE = '/rule-server/mock';

export async function listRules(api: HttpApi, app: number): Promise<string> {
  const [rules, clients] = await Promise.all([get(api, 'rules', { app }), get(api, 'clients', { app })]);
  return joinMembers(Object.entries({ rules, clients }));
}

const SHORT = [
  ...['mockId', 'app', 'ruleId', 'confId', 'target', 'address', 'state', 'outcome'],
  ...['ending', 'error', 'dryRun', 'input'],
];

/** A page of executions, each in short form. */
export async function findRuns(api: HttpApi, words: Parameters<typeof get>[2]): Promise<string> {
  const page = parseExact(await get(api, 'executions', { ...words, include: 'input' }));
  const items = list(field(page, 'items')).flatMap((item) => (isExactObject(item) ? shortOf(item) : []));
  return stringifyExact({ ...(isExactObject(page) ? page : {}), items });
}

function shortOf(item: ExactObject): ExactObject {
  const at = field(list(item.history)[0], 'at') ?? null;
  return { at, ...Object.fromEntries(SHORT.map((name) => [name, item[name] ?? null])) };
}

type Asked = {
  app: number;
  ruleId?: string | undefined;
  confId?: string | undefined;
  input: string;
  target?: string | undefined;
  dryRun?: boolean | undefined;
};

/** Runs a rule once, and resolves to the whole execution. When the assistant gives up, it is cancelled. */
export async function runRule(api: HttpApi, asked: Asked, signal: AbortSignal): Promise<string> {
  const scanned = scanJson(asked.input);
  if (scanned.kind !== 'complete' || scanned.type !== 'object')
    throw new CommandFailed('input must be a JSON object, as text.', exitCodes.usage);
  const { app, ruleId, confId, target, dryRun } = asked;
  const mockId = await beginRun(api, { app: String(app), ruleId, confId, target, dryRun }, asked.input);
  for await (const _ of statesOf(api, mockId, signal)) {
    // states are not shown; the loop ends with the execution
  }
  if (!signal.aborted) return get(api, `executions/${mockId}`, {});
  await api.call(`${BASE}/executions/${mockId}`, { method: 'DELETE' });
  throw new CommandFailed(`Execution ${mockId} is being cancelled.`, exitCodes.interrupted);
}

/** One execution, the reasons of its outcome, and the tree whose nodes its trace names, with its version. */
export async function explanation(api: HttpApi, mockId: string): Promise<string> {
  const { execution, tree, about, outcome, path, sentences, change } = await explainRun(api, mockId);
  const shown = tree !== null && tree.length <= MAX_TREE ? tree : JSON.stringify({ error: NO_TREE });
  const why = JSON.stringify({ outcome, path, sentences, change });
  return joinMembers(Object.entries({ why, execution, tree: shown, aboutTheTree: JSON.stringify(about) }));
}

const NO_TREE = 'The tree cannot be read, or is too long to be shown here.';
