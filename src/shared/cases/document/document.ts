import type { Member } from '../../contract/json/json-tokens.ts';
import { integerOf } from '../../contract/json/raw-number.ts';
import type { Problem } from '../../reasons/problems.ts';
import type { Case } from '../case.ts';
import { readIgnored } from '../judging/noise.ts';
import { elementsOf } from '../split-array.ts';
import { readCase } from './read-case.ts';
import { type Given, membersOf, readMembers } from './read-members.ts';
import { createRefusals, type LineOf, type Place } from './refusal.ts';

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

type ReadDocument = { kind: 'document'; document: CaseDocument } | { kind: 'refused'; refusals: Problem[] };

const INT32_MAX = 2_147_483_647n;
const INT64_MAX = 9_223_372_036_854_775_807n;

/** Reads a document of cases, given as JSON text. Everything that cannot be used is named with its path and line. */
export function readDocument(json: string, lineOf: LineOf): ReadDocument {
  const refusals = createRefusals(lineOf);
  const at = refusals.at();
  const members = readMembers(json, ['app', 'ruleId', 'confId', 'defaults', 'ignore', 'cases'], at);
  const app = readInteger(members.get('app'), INT32_MAX);
  const defaults = readDefaults(members.get('defaults'));
  const given = members.get('cases');
  if (given?.kind !== 'array') at.in('cases').refuse('invalid-type', { expected: 'cases' });
  const cases = (given?.kind === 'array' ? elementsOf(given.raw) : []).map((raw, index) =>
    readCase(raw, { at: at.in('cases').in(index), defaults }),
  );
  refuseTwins(cases, at.in('cases'));
  const document: CaseDocument = {
    app: app === null ? null : Number(app),
    ruleId: readInteger(members.get('ruleId'), INT64_MAX)?.toString() ?? null,
    confId: readInteger(members.get('confId'), INT64_MAX)?.toString() ?? null,
    ignore: readIgnored(members.get('ignore')),
    cases,
  };
  return refusals.all.length > 0 ? { kind: 'refused', refusals: refusals.all } : { kind: 'document', document };
}

function readDefaults(given: Given | undefined): readonly Member[] {
  const input = given && readMembers(given.raw, ['input'], given.at).get('input');
  return (input && (membersOf(input.raw) ?? input.at.refuse('invalid-type', { expected: 'object' }))) ?? [];
}

function refuseTwins(cases: readonly Case[], at: Place): void {
  const first = new Map<string, number>();
  for (const [index, { name }] of cases.entries()) {
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    else if (name !== '')
      at.in(index)
        .in('name')
        .refuse('same-name', { case: earlier + 1, name: JSON.stringify(name) });
  }
}

function readInteger(given: Given | undefined, most: bigint): bigint | null {
  const value = given?.kind === 'number' ? integerOf(given.raw) : undefined;
  if (value !== undefined && value > 0n && value <= most) return value;
  return given?.at.refuse('invalid-type', { expected: 'integer', minimum: 1, maximum: `${most}` }) ?? null;
}
