import { printPath } from '../../shared/cases/path.ts';
import { itemsOf, memberOf, textOf } from '../../shared/json-tree/members.ts';
import { compactJson } from '../../shared/json-tree/print-json.ts';
import { type Json, readJson } from '../../shared/json-tree/read-json.ts';
import type { Difference, WholeItem } from '../api/batch-items.ts';

/** One thing that was expected of a run, beside what came. `message`: how they differ; null where they do not. `ignored`: paths in it that were not compared. */
type ExpectedRow = {
  path: string;
  expected: string | null;
  actual: string | null;
  message: string | null;
  ignored: string[];
};

/** Expected and actual values: the differences first, then the agreements. */
export function expectedRows({
  expect,
  differences,
  ignore,
}: Pick<WholeItem, 'expect' | 'differences' | 'ignore'>): ExpectedRow[] {
  const held = wantedIn(expect).filter(({ path }) => !differences.some((one) => isIn(one, path)));
  const ignoredIn = (path: string) => ignore.map((each) => `data.${each}`).filter((each) => isBelow(each, path));
  return [
    ...differences.map((row) => ({ ...row, ignored: [] })),
    ...held.map((row) => ({ ...row, actual: row.expected, message: null, ignored: ignoredIn(row.path) })),
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
  const data = membersOf(memberOf(root, 'data')).map(({ key, value }) => {
    const path = printPath([key]);
    return { path: path.startsWith('[') ? `data${path}` : `data.${path}`, expected: compactJson(value) };
  });
  const absent = itemsOf(memberOf(root, 'absent')).map((path) => ({ path: `data.${textOf(path)}`, expected: null }));
  const nodes = membersOf(memberOf(root, 'nodes')).map(({ key, value }) => ({
    path: `nodes.${key}`,
    expected: plainText(value),
  }));
  return [...plain, ...data, ...absent, ...nodes];
}

const plainText = (value: Json) => textOf(value) ?? compactJson(value);
const membersOf = (json: Json | undefined) => (json?.kind === 'object' ? json.members : []);
