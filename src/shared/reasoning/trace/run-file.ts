import { joinMembers } from '../../contract/json/exact-json.ts';
import { itemsOf, memberOf, numberOf, textOf } from '../../json-tree/members.ts';
import { compactJson, prettyJson } from '../../json-tree/print-json.ts';
import { type Json, readJson } from '../../json-tree/read-json.ts';
import { asFault } from '../../reasons/template.ts';
import { type TextFault, textFault, textFaultOf } from '../../reasons/text-faults.ts';

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
    ['checksum', JSON.stringify(checksumOf(compactJson(told)))],
    ['masked', JSON.stringify(masked)],
    ['missing', JSON.stringify(missing)],
    ['execution', execution],
  ];
  return { text: `${prettyJson(rootOf(joinMembers(members)))}\n`, masked, missing };
}

export const runFileName = (mockId: string) => `run-${mockId.slice(0, 8)}.rule-run.json`;

/** The execution in a file, as JSON text. `changed`: somebody changed it after it was saved. */
type SavedRun =
  | { kind: 'run'; mockId: string; execution: string; changed: boolean }
  | { kind: 'bad'; fault: TextFault };

/** Reads the text of a file. `fault`: why it is no saved run. */
export function readRunFile(text: string): SavedRun {
  const read = readJson(text);
  if (read.kind === 'bad') return { kind: 'bad', fault: textFault('not-json', asFault(read.fault)) };
  const file = read.root;
  const own = memberOf(file, 'execution');
  const [format, checksum, mockId] = [
    memberOf(file, 'format'),
    memberOf(file, 'checksum'),
    memberOf(own, 'mockId'),
  ].map(textOf);
  if (format !== RUN_FILE || numberOf(memberOf(file, 'formatVersion')) !== 1 || checksum === null || !own || !mockId)
    return { kind: 'bad', fault: textFault('no-run-file', {}) };
  const execution = compactJson(own);
  return { kind: 'run', mockId, execution, changed: checksumOf(execution) !== checksum };
}

/** A checksum of 64 bits, which shows an edit. Not SHA-256: a page that was not loaded over HTTPS has none. */
export function checksumOf(text: string): string {
  let [one, other] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    one = Math.imul(one ^ text.charCodeAt(at), 0x9e3779b1);
    other = Math.imul(other ^ text.charCodeAt(at), 0x5f356495);
  }
  return [one, other].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}

function rootOf(json: string): Json {
  const read = readJson(json);
  if (read.kind === 'bad') throw new SyntaxError(textFaultOf(read.fault));
  return read.root;
}
