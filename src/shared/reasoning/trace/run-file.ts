import { z } from 'zod';
import { executionSchema } from '../../contract/execution.ts';
import { joinMembers } from '../../contract/json/exact-json.ts';
import { readAs } from '../../contract/wire.ts';
import { memberOf } from '../../json-tree/members.ts';
import { compactJson, prettyJson } from '../../json-tree/print-json.ts';
import { readJson } from '../../json-tree/read-json.ts';
import { wordsOfJsonFault } from '../../reasons/text-faults.ts';
import { sha256 } from './sha256.ts';

const RUN_FILE = 'rule-server-run';

const text = z.string();

/** A run as one file: its execution with the tree of the rules it ran on. */
export const runFileSchema = z
  .object({
    format: z.literal(RUN_FILE),
    formatVersion: z.literal(1),
    savedBy: text.describe('What saved it: the command line with its version, or the page.'),
    digest: text.describe('SHA-256 (base64url) of `execution` without blanks between its tokens.'),
    masked: z.array(text).describe('The fields that are hidden (MASK), by their paths in the data.'),
    missing: z.array(z.enum(['input', 'result', 'tree'])).describe('What the service did not keep, or not whole.'),
    execution: z
      .looseObject({ mockId: text, app: z.number() })
      .describe('As GET /executions/{id}?include=tree tells it; the OpenAPI document has its members.'),
  })
  .describe('A saved run: *.rule-run.json.');

/** The text of the file for an execution, as it was told, and what is hidden in it or missing. Numbers stay as they were written. */
export function runFileOf(execution: string, savedBy: string): { text: string; masked: string[]; missing: string[] } {
  const body = readAs(executionSchema, execution);
  const missing = [
    ...(body.input === null ? ['input'] : []),
    ...((body.result ?? body.lateResult) === null ? ['result'] : []),
    ...(body.tree == null ? ['tree'] : []),
  ];
  const members: [string, string][] = [
    ['format', JSON.stringify(RUN_FILE)],
    ['formatVersion', '1'],
    ['savedBy', JSON.stringify(savedBy)],
    ['digest', JSON.stringify(digestOf(execution))],
    ['masked', JSON.stringify(body.masked)],
    ['missing', JSON.stringify(missing)],
    ['execution', execution],
  ];
  const read = readJson(joinMembers(members));
  if (read.kind === 'bad') throw new SyntaxError(wordsOfJsonFault(read.fault));
  return { text: `${prettyJson(read.root)}\n`, masked: body.masked, missing };
}

export const runFileName = (mockId: string) => `run-${mockId.slice(0, 8)}.rule-run.json`;

/** The execution in a file, as JSON text. `changed`: somebody changed it after it was saved. */
type SavedRun = { kind: 'run'; mockId: string; execution: string; changed: boolean } | { kind: 'bad'; why: string };

/** Reads the text of a file. `why`: what it is instead of a saved run. */
export function readRunFile(text: string): SavedRun {
  const read = readJson(text);
  if (read.kind === 'bad') return { kind: 'bad', why: `no JSON: ${wordsOfJsonFault(read.fault)}` };
  const file = runFileSchema.safeParse(JSON.parse(text));
  const own = memberOf(read.root, 'execution');
  if (!file.success || !own) return { kind: 'bad', why: 'no saved run' };
  const execution = compactJson(own);
  const { mockId } = file.data.execution;
  return { kind: 'run', mockId, execution, changed: sha256(execution) !== file.data.digest };
}

/** The same however an editor lays the file out. */
function digestOf(json: string): string {
  const read = readJson(json);
  if (read.kind === 'bad') throw new SyntaxError(wordsOfJsonFault(read.fault));
  return sha256(compactJson(read.root));
}
