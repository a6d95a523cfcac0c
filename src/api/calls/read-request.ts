import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { type AskedRequest, executeRequestSchema, memberValue } from '../../shared/contract/execute-request.ts';
import { scanJson } from '../../shared/contract/json/exact-json.ts';
import type { Member } from '../../shared/contract/json/json-tokens.ts';
import { decodeUtf8 } from '../../shared/contract/json/utf8.ts';
import { isOneSlipAway } from '../../shared/contract/near-miss.ts';

/** One thing wrong with a request: the field (or `body`) and what to do about it. */
export type Problem = { field: string; message: string };

type ReadRequest = { kind: 'request'; request: AskedRequest } | { kind: 'bad'; problems: Problem[] };

/** The answer to a large body of near misses must not be many times as large. */
const MAX_PROBLEMS = 100;

/** Reads the body of execute. All faults of a bad one are told, not only the first. */
export function readExecuteRequest(bytes: Uint8Array): ReadRequest {
  if (bytes.length === 0) return bad('body', 'is empty: send a JSON object such as {"app":1,"ruleId":1}');
  const decoded = decodeUtf8(bytes);
  if (decoded.kind !== 'text') return bad('body', decoded.kind === 'cut' ? 'is not valid UTF-8' : decoded.message);

  const scanned = scanJson(decoded.text);
  if (scanned.kind === 'incomplete')
    return bad('body', `is not JSON: it ends too early, after ${scanned.length} characters`);
  if (scanned.kind === 'wrong') {
    return bad(scanned.path || 'body', `is not JSON: ${scanned.message} (character ${scanned.at + 1})`);
  }
  if (scanned.type !== 'object') return bad('body', `must be a JSON object, found ${article(scanned.type)}`);

  const problems: Problem[] = scanned.duplicates.map((path) => ({ field: path, message: 'is given twice' }));
  for (const member of scanned.members) {
    const { key } = member;
    const meant = nearMiss(key);
    if (meant) problems.push({ field: key, message: `is not a field of this request; did you mean "${meant}"?` });
  }
  const parsed = executeRequestSchema.safeParse(membersByKey(scanned.members));
  if (!parsed.success) {
    problems.push(...parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message })));
  }
  return parsed.success && problems.length === 0
    ? { kind: 'request', request: parsed.data }
    : { kind: 'bad', problems: problems.slice(0, MAX_PROBLEMS) };
}

const FIELDS = [
  ...['app', 'ruleId', 'confId', 'ts', 'debug', DATA_FIELD, 'target', 'scene', 'dryRun', 'stub'],
  ...['comparisonId', 'derivedFrom'],
];
const OTHER_NAMES = new Map([
  ['roam', DATA_FIELD],
  ['service', DATA_FIELD],
  ['iceid', 'ruleId'],
  ['scenes', 'scene'],
  ['stubs', 'stub'],
]);

/** The known field that a key probably means: another spelling, the name of another server, or one slip in a longer name. */
function nearMiss(key: string): string | undefined {
  if (FIELDS.includes(key) || key.length > 40) return undefined;
  const plain = letters(key);
  const other = OTHER_NAMES.get(plain);
  if (other) return other;
  return FIELDS.find((field) => {
    const known = letters(field);
    return plain === known || (known.length >= 5 && plain.length >= 4 && isOneSlipAway(plain, known));
  });
}

export const NO_DRY_RUN =
  'is not known here: this runs for real. Ask for a run without effects with "dryRun": true in the body of POST /rule-server/mock/execute';

/** Tells whether a member asks for a run without effects, where there is none: the API refuses such a call, because a real run is not what was asked for. */
export function asksForNoEffects({ key, raw }: Pick<Member, 'key' | 'raw'>): boolean {
  const plain = letters(key);
  const isAsked = plain === 'stub' || plain === 'stubs' || isOneSlipAway(plain, 'dryrun');
  return isAsked && raw !== 'false' && raw !== 'null';
}

const letters = (name: string) => name.toLowerCase().replace(/[\s_-]/g, '');

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
