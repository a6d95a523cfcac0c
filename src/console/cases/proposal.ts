import { inData, printPath } from '../../shared/cases/path.ts';
import { joinMembers } from '../../shared/contract/json/exact-json.ts';
import { itemsOf, memberOf, textOf } from '../../shared/json-tree/members.ts';
import { compactJson } from '../../shared/json-tree/print-json.ts';
import { type Json, readJson } from '../../shared/json-tree/read-json.ts';
import type { Difference, WholeItem } from '../api/batch-items.ts';
import type { SavedCase } from '../api/cases.ts';
import { diffJson } from '../json/diff-json.ts';
import type { Reading } from '../run/reading.ts';

/** One thing that a run came to and that can be expected of the next one. `value`: JSON text. */
export type Part =
  | { kind: 'outcome'; value: 'TRUE' | 'FALSE' | 'NONE' | 'ERROR' }
  | { kind: 'error'; value: string }
  | { kind: 'data'; key: string; value: string }
  | { kind: 'absent'; key: string };

/** The proposed expectation, from how a run ended: its outcome and every key that it changed. */
export function partsOfRun({ before, after, decision, result }: Reading): Part[] {
  if (result === null) return [];
  if (!result.success || result.error !== null) {
    const error: Part[] = result.error === null ? [] : [{ kind: 'error', value: JSON.stringify(result.error) }];
    return [{ kind: 'outcome', value: 'ERROR' }, ...error];
  }
  const outcome: Part[] = decision === null ? [] : [{ kind: 'outcome', value: decision }];
  return [...outcome, ...changedParts(before, after)];
}

function changedParts(before: Json | null, after: Json | null): Part[] {
  if (before === null || after === null) return [];
  const { changes } = diffJson(before, after);
  const keys = new Set(changes.filter(({ kind }) => kind !== 'same' && kind !== 'rewritten').map(({ key }) => key));
  return [...keys].map((key): Part => {
    const value = memberOf(after, key);
    return value === undefined ? { kind: 'absent', key } : { kind: 'data', key, value: compactJson(value) };
  });
}

/** Tells the parts of one run apart. */
export const partId = (part: Part) =>
  part.kind === 'data' || part.kind === 'absent' ? `${part.kind} ${part.key}` : part.kind;

/** The parts that a saved case expects already: the others stay without a tick when it is updated. */
export function expectedParts(parts: readonly Part[], { expect }: SavedCase): Part[] {
  const root = documentOf(expect);
  return parts.filter((part) => {
    if (part.kind === 'data') return memberOf(memberOf(root, 'data'), part.key) !== undefined;
    if (part.kind === 'absent') return pathsIn(root).includes(printPath([part.key]));
    return memberOf(root, part.kind) !== undefined;
  });
}

type Written = { name: string; input: string; ts: string | null; parts: readonly Part[]; saved: SavedCase | null };

/** A case as documents write it, as JSON text. What a saved case has beside the parts, its tags and nodes, it keeps. */
export function caseText({ name, input, ts, parts, saved }: Written): string {
  const expect = expectMembers(parts, documentOf(saved?.expect ?? null));
  return joinMembers([
    ['name', JSON.stringify(name)],
    ['input', input],
    ...(ts === null ? [] : [['asOf', ts] as const]),
    ...(saved && saved.tags.length > 0 ? [['tags', JSON.stringify(saved.tags)] as const] : []),
    ...(saved?.skip ? [['skip', 'true'] as const] : []),
    ...(expect.length > 0 ? [['expect', joinMembers(expect)] as const] : []),
  ]);
}

function expectMembers(parts: readonly Part[], before: Json | undefined): (readonly [string, string])[] {
  const plain = parts.flatMap((part): [string, string][] => {
    if (part.kind === 'outcome') return [['outcome', JSON.stringify(part.value)]];
    return part.kind === 'error' ? [['error', part.value]] : [];
  });
  const data = parts.flatMap((part) => (part.kind === 'data' ? [[part.key, part.value] as const] : []));
  const added = parts.flatMap((part) => (part.kind === 'absent' ? [printPath([part.key])] : []));
  const absent = [...new Set([...pathsIn(before).filter((path) => !hasData(parts, path)), ...added])];
  const kept = ['nodes', 'actions', 'withinMs'].flatMap((name) => {
    const value = memberOf(before, name);
    return value ? [[name, compactJson(value)] as const] : [];
  });
  return [
    ...plain,
    ...(data.length > 0 ? [['data', joinMembers(data)] as const] : []),
    ...(absent.length > 0 ? [['absent', JSON.stringify(absent)] as const] : []),
    ...kept,
  ];
}

/** A key that is expected to be there now is not expected to be absent. */
function hasData(parts: readonly Part[], path: string): boolean {
  return parts.some((part) => part.kind === 'data' && printPath([part.key]) === path);
}

function pathsIn(expect: Json | undefined): string[] {
  const absent = memberOf(expect, 'absent');
  return absent?.kind === 'array' ? absent.items.flatMap((item) => (item.kind === 'string' ? [item.value] : [])) : [];
}

function documentOf(text: string | null): Json | undefined {
  const read = text === null ? null : readJson(text);
  return read?.kind === 'ok' ? read.root : undefined;
}

/** One thing that was expected of a run, beside what came. `how` they differ: null where they do not. `ignored`: paths in it that were not compared. */
type ExpectedRow = {
  path: string;
  expected: string | null;
  actual: string | null;
  how: Difference['how'] | null;
  ignored: string[];
};

/** Expected and actual values: the differences first, then the agreements. */
export function expectedRows({
  expect,
  differences,
  ignore,
}: Pick<WholeItem, 'expect' | 'differences' | 'ignore'>): ExpectedRow[] {
  const held = wantedIn(expect).filter(({ path }) => !differences.some((one) => isIn(one, path)));
  const ignoredIn = (path: string) => ignore.map(inData).filter((each) => isBelow(each, path));
  return [
    ...differences.map((row) => ({ ...row, ignored: [] })),
    ...held.map((row) => ({ ...row, actual: row.expected, how: null, ignored: ignoredIn(row.path) })),
  ];
}

const isIn = (difference: Difference, path: string) => isBelow(difference.path, path);

function isBelow(path: string, above: string): boolean {
  return path === above || path.startsWith(`${above}.`) || path.startsWith(`${above}[`);
}

function wantedIn(expect: string | null): { path: string; expected: string | null }[] {
  const read = expect === null ? null : readJson(expect);
  const root = read?.kind === 'ok' ? read.root : undefined;
  const plain = ['outcome', 'error', 'withinMs'].flatMap((name) => {
    const value = memberOf(root, name);
    return value ? [{ path: name, expected: plainText(value) }] : [];
  });
  const data = membersOf(memberOf(root, 'data')).map(({ key, value }) => ({
    path: printPath(['data', key]),
    expected: compactJson(value),
  }));
  const absent = itemsOf(memberOf(root, 'absent')).map((path) => ({
    path: inData(textOf(path) ?? ''),
    expected: null,
  }));
  const nodes = membersOf(memberOf(root, 'nodes')).map(({ key, value }) => ({
    path: `nodes.${key}`,
    expected: plainText(value),
  }));
  return [...plain, ...data, ...absent, ...nodes];
}

const plainText = (value: Json) => textOf(value) ?? compactJson(value);
const membersOf = (json: Json | undefined) => (json?.kind === 'object' ? json.members : []);
