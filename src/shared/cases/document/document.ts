import { scanJson } from '../../contract/json/exact-json.ts';
import type { Member } from '../../contract/json/json-tokens.ts';
import { integerOf } from '../../contract/json/raw-number.ts';
import type { Case } from '../case.ts';
import { readIgnored } from '../judging/noise.ts';
import type { Step } from '../path.ts';
import { elementsOf } from '../split-array.ts';
import { readCase } from './read-case.ts';
import { readMembers } from './read-members.ts';
import { createRefusals, type LineOf, type Refusal, type Refusals } from './refusal.ts';

/** The cases of one rule, and the paths in their data that count for nothing. Ids are decimal text; null where the document leaves them to the command or the call that runs it. */
export type CaseDocument = {
  app: number | null;
  ruleId: string | null;
  confId: string | null;
  ignore: string[];
  cases: Case[];
};

/** How large a document may be to be saved. */
export const MAX_CASES_BYTES = 1024 * 1024;

type ReadDocument = { kind: 'document'; document: CaseDocument } | { kind: 'refused'; refusals: Refusal[] };

const INT32_MAX = 2_147_483_647n;
const INT64_MAX = 9_223_372_036_854_775_807n;

/** Reads a document of cases, given as JSON text. Everything that cannot be used is named with its path and line. */
export function readDocument(json: string, lineOf: LineOf): ReadDocument {
  const refusals = createRefusals(lineOf);
  const members = readMembers(json, {
    path: [],
    known: ['app', 'ruleId', 'confId', 'defaults', 'ignore', 'cases'],
    refusals,
  });
  const document: CaseDocument = {
    app: readApp(members.get('app'), refusals),
    ruleId: readId(members.get('ruleId'), 'ruleId', refusals),
    confId: readId(members.get('confId'), 'confId', refusals),
    ignore: readIgnored(members.get('ignore'), refusals),
    cases: [],
  };
  const defaults = readDefaults(members.get('defaults'), refusals);
  const cases = members.get('cases');
  if (cases?.kind !== 'array') refusals.add(['cases'], 'must be a list of cases');
  else {
    document.cases = elementsOf(cases.raw).map((raw, index) =>
      readCase(raw, { writing: 'document', path: ['cases', index], refusals, lineOf, defaults }),
    );
  }
  refuseTwins(document.cases, refusals);
  return refusals.all.length > 0 ? { kind: 'refused', refusals: refusals.all } : { kind: 'document', document };
}

function readDefaults(member: Member | undefined, refusals: Refusals): readonly Member[] {
  if (member === undefined || member.kind === 'null') return [];
  const input = readMembers(member.raw, { path: ['defaults'], known: ['input'], refusals }).get('input');
  if (input === undefined || input.kind === 'null') return [];
  const scanned = scanJson(input.raw);
  if (scanned.kind === 'complete' && scanned.type === 'object') return scanned.members;
  refusals.add(['defaults', 'input'], 'must be an object');
  return [];
}

function refuseTwins(cases: readonly Case[], refusals: Refusals): void {
  const first = new Map<string, number>();
  for (const [index, { name }] of cases.entries()) {
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    else if (name !== '')
      refusals.add(['cases', index, 'name'], `is the name of case ${earlier + 1} as well: ${JSON.stringify(name)}`);
  }
}

function readApp(member: Member | undefined, refusals: Refusals): number | null {
  const app = readInteger(member, ['app'], { most: INT32_MAX, refusals });
  return app === null ? null : Number(app);
}

function readId(member: Member | undefined, name: string, refusals: Refusals): string | null {
  return readInteger(member, [name], { most: INT64_MAX, refusals })?.toString() ?? null;
}

function readInteger(
  member: Member | undefined,
  path: readonly Step[],
  { most, refusals }: { most: bigint; refusals: Refusals },
): bigint | null {
  if (member === undefined || member.kind === 'null') return null;
  const value = member.kind === 'number' ? integerOf(member.raw) : undefined;
  if (value !== undefined && value > 0n && value <= most) return value;
  refusals.add(path, `must be an integer from 1 to ${most}`);
  return null;
}
