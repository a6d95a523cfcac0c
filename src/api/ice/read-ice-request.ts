import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { type AskedRequest, executeRequestSchema, memberValue } from '../../shared/contract/execute-request.ts';
import { problemsOf } from '../../shared/contract/issues.ts';
import { scanJson } from '../../shared/contract/json/exact-json.ts';
import type { Member } from '../../shared/contract/json/json-tokens.ts';
import { decodeWhole } from '../../shared/contract/json/utf8.ts';
import { isOneSlipAway } from '../../shared/contract/nearest.ts';
import { parseTarget } from '../../shared/contract/target.ts';
import { type Problem, problemAt, problemOfFault } from '../../shared/reasons/problems.ts';
import { messageOf } from '../../shared/reasons/words.ts';
import { INPUT_ERROR, OTHER_ERROR } from './envelope.ts';

type IceRequest = { kind: 'request'; request: AskedRequest } | { kind: 'bad'; ret: number; message: string };

const OUR_NAMES = new Map([
  ['iceId', 'ruleId'],
  ['roam', DATA_FIELD],
]);
const MEMBERS = new Set(['app', 'iceId', 'confId', 'scene', 'ts', 'debug', 'roam', 'target']);
const THEIR_NAMES = new Map([...OUR_NAMES].map(([theirs, ours]) => [ours, theirs]));

/**
 * Reads the body of the published server's execute. As there, unknown members are ignored and null counts as absent; a missing app or id is
 * -2, any other fault -1.
 */
export function readIceRequest(bytes: Uint8Array): IceRequest {
  const decoded = decodeWhole(bytes);
  if (decoded.kind !== 'text') return bad(OTHER_ERROR, told(problemOfFault('the body', decoded.fault)));
  const scanned = scanJson(decoded.text);
  if (scanned.kind !== 'complete') return bad(OTHER_ERROR, told(problemOfFault('the body', scanned.whole)));
  if (scanned.type !== 'object')
    return bad(OTHER_ERROR, told(problemAt('the body', 'invalid-type', { expected: 'json-object' })));
  const [twice] = scanned.duplicates;
  if (twice !== undefined) return bad(OTHER_ERROR, told(problemAt(twice, 'duplicate', {})));

  const members = scanned.members.filter(({ kind }) => kind !== 'null');
  const expected = members.find(asksForNoEffects);
  if (expected !== undefined) return bad(OTHER_ERROR, told(problemAt(expected.key, 'no-dry-run-here', {})));
  const given = new Map(members.filter(({ key }) => MEMBERS.has(key)).map((member) => [member.key, member]));
  if (isZeroOrAbsent(given.get('app'))) return bad(INPUT_ERROR, told(problemAt('app', 'required', {})));
  const scene = given.get('scene');
  const sceneName = scene === undefined ? '' : memberValue(scene);
  const hasScene = sceneName !== '';
  if (isZeroOrAbsent(given.get('iceId')) && isZeroOrAbsent(given.get('confId')) && !hasScene)
    return bad(INPUT_ERROR, 'one of iceId, confId or scene is required');
  // Precedence as in the published server: rule, scene, node.
  given.delete(hasScene && isZeroOrAbsent(given.get('iceId')) ? 'confId' : 'scene');
  const values = [...given.values()].map((member) => [OUR_NAMES.get(member.key) ?? member.key, memberValue(member)]);
  const parsed = executeRequestSchema.safeParse(withTarget(Object.fromEntries(values)), { reportInput: true });
  // Beside a rule the scene selects nothing, but leaves may read it.
  const named = parsed.data?.ruleId != null && typeof sceneName === 'string' && hasScene ? { scene: sceneName } : {};
  if (parsed.success) return { kind: 'request', request: { ...parsed.data, ...named } };
  return bad(OTHER_ERROR, problemsOf(parsed.error.issues).map(told).join('; '));
}

/** A problem in the words of that server, which has no place for data. */
const told = ({ field, ...problem }: Problem) => `${THEIR_NAMES.get(field) ?? field} ${messageOf(problem)}`;

/** A dry run is refused, because the published server has none and a real run is not what the caller asked for. */
function asksForNoEffects({ key, raw }: Pick<Member, 'key' | 'raw'>): boolean {
  const plain = key.toLowerCase().replace(/[\s_-]/g, '');
  const isAsked = plain === 'stub' || plain === 'stubs' || isOneSlipAway(plain, 'dryrun');
  return isAsked && raw !== 'false' && raw !== 'null';
}

/** As in the published server, a target of any other form is an address. */
function withTarget(values: Record<string, unknown>): Record<string, unknown> {
  const { target } = values;
  const isAddress = typeof target === 'string' && parseTarget(target).kind === 'malformed';
  return isAddress ? { ...values, target: `address:${target}` } : values;
}

function isZeroOrAbsent(member: Member | undefined): boolean {
  return member === undefined || (member.kind === 'number' && memberValue(member) === 0n);
}

function bad(ret: number, message: string): IceRequest {
  return { kind: 'bad', ret, message };
}
