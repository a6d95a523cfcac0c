import { joinMembers } from '../../contract/json/exact-json.ts';
import { itemsOf, memberOf, numberOf, textOf } from '../../json-tree/members.ts';
import { compactJson, prettyJson } from '../../json-tree/print-json.ts';
import { type Json, readJson } from '../../json-tree/read-json.ts';
import { wordsOfJsonFault } from '../../reasons/text-faults.ts';
import { sha256 } from './sha256.ts';

export const RUN_FILE = 'rule-server-run';

/** The text of the file for an execution, as it was told, and what is hidden in it or missing. Numbers stay as they were written. */
export function runFileOf(execution: string, savedBy: string): { text: string; masked: string[]; missing: string[] } {
  const told = rootOf(execution);
  const has = (name: string) => (memberOf(told, name)?.kind ?? 'null') !== 'null';
  const missing = [
    ...(has('input') ? [] : ['input']),
    ...(has('result') || has('lateResult') ? [] : ['result']),
    ...(has('tree') ? [] : ['tree']),
  ];
  const masked = itemsOf(memberOf(told, 'masked')).flatMap((path) => textOf(path) ?? []);
  const members: [string, string][] = [
    ['format', JSON.stringify(RUN_FILE)],
    ['formatVersion', '1'],
    ['savedBy', JSON.stringify(savedBy)],
    ['digest', JSON.stringify(digestOf(execution))],
    ['masked', JSON.stringify(masked)],
    ['missing', JSON.stringify(missing)],
    ['execution', execution],
  ];
  return { text: `${prettyJson(rootOf(joinMembers(members)))}\n`, masked, missing };
}

export const runFileName = (mockId: string) => `run-${mockId.slice(0, 8)}.rule-run.json`;

/** The execution in a file, as JSON text. `changed`: somebody changed it after it was saved. */
type SavedRun = { kind: 'run'; mockId: string; execution: string; changed: boolean } | { kind: 'bad'; why: string };

/** Reads the text of a file. `why`: what it is instead of a saved run. */
export function readRunFile(text: string): SavedRun {
  const read = readJson(text);
  if (read.kind === 'bad') return { kind: 'bad', why: `no JSON: ${wordsOfJsonFault(read.fault)}` };
  const file = read.root;
  const own = memberOf(file, 'execution');
  const [format, digest, mockId] = [memberOf(file, 'format'), memberOf(file, 'digest'), memberOf(own, 'mockId')].map(
    textOf,
  );
  if (format !== RUN_FILE || numberOf(memberOf(file, 'formatVersion')) !== 1 || digest === null || !own || !mockId)
    return { kind: 'bad', why: 'no saved run' };
  const execution = compactJson(own);
  return { kind: 'run', mockId, execution, changed: sha256(execution) !== digest };
}

/** The same however an editor lays the file out. */
const digestOf = (json: string) => sha256(compactJson(rootOf(json)));

function rootOf(json: string): Json {
  const read = readJson(json);
  if (read.kind === 'bad') throw new SyntaxError(wordsOfJsonFault(read.fault));
  return read.root;
}
