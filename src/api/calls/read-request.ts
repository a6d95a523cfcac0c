import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import {
  type AskedRequest,
  callSchema,
  executeRequestSchema,
  memberValue,
} from '../../shared/contract/execute-request.ts';
import { scanJson } from '../../shared/contract/json/exact-json.ts';
import type { Member } from '../../shared/contract/json/json-tokens.ts';
import { decodeWhole } from '../../shared/contract/json/utf8.ts';
import { unknownNames } from '../../shared/contract/nearest.ts';

/** One thing wrong with a request: the field (or `body`) and what to do about it. */
export type Problem = { field: string; message: string };

type ReadRequest = { kind: 'request'; request: AskedRequest } | { kind: 'bad'; problems: Problem[] };

/** The answer to a large body of near misses must not be many times as large. */
const MAX_PROBLEMS = 100;

/** Reads the body of execute. All faults of a bad one are told, not only the first. */
export function readExecuteRequest(bytes: Uint8Array): ReadRequest {
  if (bytes.length === 0) return bad('body', 'is empty: send a JSON object such as {"app":1,"ruleId":1}');
  const decoded = decodeWhole(bytes);
  if (decoded.kind !== 'text') return bad('body', decoded.message);

  const scanned = scanJson(decoded.text);
  if (scanned.kind === 'incomplete')
    return bad('body', `is not JSON: it ends too early, after ${scanned.length} characters`);
  if (scanned.kind === 'wrong') {
    return bad(scanned.path || 'body', `is not JSON: ${scanned.message} (character ${scanned.at + 1})`);
  }
  if (scanned.type !== 'object') return bad('body', `must be a JSON object, found ${article(scanned.type)}`);

  const problems: Problem[] = scanned.duplicates.map((path) => ({ field: path, message: 'is given twice' }));
  const names = scanned.members.map(({ key }) => key);
  for (const { name, message } of unknownNames(names, FIELDS, OTHER_NAMES)) problems.push({ field: name, message });
  const parsed = callSchema.safeParse(membersByKey(scanned.members));
  if (!parsed.success) {
    problems.push(...parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message })));
  }
  return parsed.success && problems.length === 0
    ? { kind: 'request', request: parsed.data }
    : { kind: 'bad', problems: problems.slice(0, MAX_PROBLEMS) };
}

const FIELDS = Object.keys(executeRequestSchema.shape);
/** Names that other programs have for a field. */
const OTHER_NAMES = new Map([
  ...['roam', 'service', 'data', 'input'].map((name) => [name, DATA_FIELD] as const),
  ...['simulate', 'simulation', 'noeffects', 'whatif', 'test'].map((name) => [name, 'dryRun'] as const),
  ['iceid', 'ruleId'],
]);

function membersByKey(members: Member[]): Record<string, unknown> {
  return Object.fromEntries(
    members.filter(({ key }) => FIELDS.includes(key)).map((member) => [member.key, memberValue(member)]),
  );
}

function bad(field: string, message: string): ReadRequest {
  return { kind: 'bad', problems: [{ field, message }] };
}

function article(type: string): string {
  return type === 'null' ? 'null' : `${/^[ao]/.test(type) ? 'an' : 'a'} ${type}`;
}
