import { z } from 'zod';
import { executionSchema } from '../../contract/execution.ts';
import { joinMembers } from '../../contract/json/exact-json.ts';
import { readAs } from '../../contract/wire.ts';
import { compactJson, prettyJson } from '../../json-tree/print-json.ts';
import { readJson } from '../../json-tree/read-json.ts';

const RUN_FILE = 'rule-server-run';

const text = z.string();

/** A run as one file: its execution with the tree of the rules it ran on. */
export const runFileSchema = z
  .object({
    format: z.literal(RUN_FILE),
    formatVersion: z.literal(1),
    savedBy: text.describe('The version of the command line that saved it.'),
    digest: text.describe('SHA-256 (base64url) of `execution` without blanks between its tokens.'),
    masked: z.array(text).describe('The fields that are hidden (MASK), by their paths in the data.'),
    missing: z.array(z.enum(['input', 'result', 'tree'])).describe('What the service did not keep, or not whole.'),
    execution: z
      .looseObject({ mockId: text, app: z.number() })
      .describe('As GET /executions/{id}?include=tree tells it; the OpenAPI document has its members.'),
  })
  .describe('A saved run: *.rule-run.json.');

/** `digestOf`: SHA-256 in base64url. */
type With = { savedBy: string; digestOf: (text: string) => string };

/** The text of the file for an execution, as it was told, and what is hidden in it or missing. Numbers stay as they were written. */
export function runFileOf(
  execution: string,
  { savedBy, digestOf }: With,
): { text: string; masked: string[]; missing: string[] } {
  const told = readAs(executionSchema, execution);
  const missing = [
    ...(told.input === null ? ['input'] : []),
    ...((told.result ?? told.lateResult) === null ? ['result'] : []),
    ...(told.tree == null ? ['tree'] : []),
  ];
  const members: [string, string][] = [
    ['format', JSON.stringify(RUN_FILE)],
    ['formatVersion', '1'],
    ['savedBy', JSON.stringify(savedBy)],
    ['digest', JSON.stringify(digestOf(compact(execution)))],
    ['masked', JSON.stringify(told.masked)],
    ['missing', JSON.stringify(missing)],
    ['execution', execution],
  ];
  const read = readJson(joinMembers(members));
  if (read.kind === 'bad') throw new SyntaxError(read.message);
  return { text: `${prettyJson(read.root)}\n`, masked: told.masked, missing };
}

/** Whether the execution in a file is another than the one that was saved. */
export const wasChanged = (execution: string, digest: string, digestOf: With['digestOf']): boolean =>
  digestOf(compact(execution)) !== digest;

function compact(json: string): string {
  const read = readJson(json);
  if (read.kind === 'bad') throw new SyntaxError(read.message);
  return compactJson(read.root);
}
