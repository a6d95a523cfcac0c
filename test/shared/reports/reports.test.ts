import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { type Batch, noCounts } from '../../../src/shared/cases/batch.ts';
import type { BatchReport } from '../../../src/shared/contract/batches.ts';
import { csvReport } from '../../../src/shared/reports/csv.ts';
import { jsonReport, reportedBatch } from '../../../src/shared/reports/json.ts';
import { junitReport } from '../../../src/shared/reports/junit.ts';
import { markdownReport } from '../../../src/shared/reports/markdown.ts';
import { otherProblems, schemaProblems } from './junit-schema.ts';
import { readXml } from './read-xml.ts';

const batch: Batch = {
  v: 1,
  batchId: '0198-x',
  app: 9001,
  ruleId: '9223372036854775807',
  confId: null,
  targets: ['all', 'lane:<b>&"'],
  cases: 3,
  concurrency: 4,
  stopAfterFailures: null,
  keyName: null,
  createdAt: 1_790_000_000_000,
  file: 'a & b.yaml',
  etag: null,
  from: null,
  dryRun: false,
  ignore: [],
};
type Item = BatchReport['items'][number];
const item = (n: number, more: Partial<Item>): Item => ({
  ...{
    n,
    name: `case ${n}`,
    line: n,
    target: 'all',
    mockId: `m${n}`,
    verdict: 'passed',
    outcome: 'TRUE',
    address: 'a',
  },
  ...{ code: null, mayHaveRun: true, error: null, tookMs: 1234, differences: [] },
  ...{ notChecked: [], rules: null, reason: null, params: {}, parting: null, changed: null, cut: false },
  ...more,
});
const nasty = 'a\nb ]]> <x a="1"> & \u0000\u0008\ufffe\ud800 \u{1f600} \r\t"';
const changed = '{"amount":120.10,"uid":9007199254740993}';
const items = [
  item(1, { changed }),
  item(2, {
    verdict: 'failed',
    name: nasty,
    differences: [{ path: 'data.a', expected: '1', actual: nasty, how: 'differs' }],
  }),
  item(3, { verdict: 'error', error: nasty, name: '=HYPERLINK("http://x")' }),
  item(4, {
    target: 'lane:<b>&"',
    verdict: 'unanswered',
    code: 'no-answer',
    error: 'silent',
    name: '@SUM(1)',
    line: null,
  }),
  item(5, { target: 'lane:<b>&"', verdict: 'skipped', error: 'cancelled', tookMs: null, name: '-1+1' }),
  item(6, { target: 'lane:<b>&"', verdict: 'pending', name: '\t=1', tookMs: null }),
];
const reported: BatchReport = {
  ...reportedBatch({
    batch,
    progress: {
      state: 'finished',
      endedAt: 1_790_000_001_000,
      counts: [
        { ...noCounts(), passed: 1, failed: 1, error: 1 },
        { ...noCounts(), unanswered: 1, skipped: 1, pending: 1 },
      ],
    },
  }),
  items,
};

describe('JUnit', () => {
  const xml = junitReport(reported);
  const root = readXml(xml);
  it('is what the schema of the xUnit plugin of Jenkins accepts, whatever names hold', async () => {
    const withoutFile = {
      ...reported,
      file: null,
      items: items.map((each) => ({ ...each, line: null })),
    };
    expect(await schemaProblems(junitReport(withoutFile))).toEqual([]);
    expect(await schemaProblems(junitReport(withoutFile).replaceAll('<failure', '<failed'))).not.toEqual([]);
  });
  it('adds nothing to that schema but the file and line that GitHub and GitLab read', async () => {
    expect(await otherProblems(xml)).toEqual([]);
    expect(await schemaProblems(xml)).not.toEqual([]);
  });
  it('has a testsuite for each target and a testcase for each case, with file and line where known', () => {
    expect(
      root.children.map(({ attributes }) => [
        attributes.name,
        attributes.tests,
        attributes.failures,
        attributes.errors,
        attributes.skipped,
      ]),
    ).toEqual([
      ['a & b.yaml: app 9001 rule 9223372036854775807 on all', '3', '1', '1', '0'],
      ['a & b.yaml: app 9001 rule 9223372036854775807 on lane:<b>&"', '3', '0', '1', '2'],
    ]);
    expect(root.children[0]?.children[0]).toMatchObject({
      name: 'testcase',
      attributes: { name: 'case 1', file: 'a & b.yaml', line: '1', time: '1.234' },
    });
    expect(root.children[1]?.children[0]?.attributes.line).toBeUndefined();
  });
  it('gives each testcase its own classname and name, across files, targets and rows of one name', () => {
    const same = { ...reported, items: ['a', 'a (2)', 'a', 'a'].map((name, at) => item(at + 1, { name })) };
    const other = { ...same, file: 'other.yaml' };
    const cases = readXml(junitReport(same, other)).children.flatMap(({ children }) => children);
    const ids = cases.map(({ attributes: { classname, name } }) => `${classname} ${name}`);
    expect(ids).toHaveLength(8);
    expect(new Set(ids).size).toBe(8);
  });
  it('names the rows of a whole batch that all have one name, and does not compare each with all before it', () => {
    const same = { ...reported, items: Array.from({ length: 4000 }, (_, at) => item(at + 1, { name: 'a' })) };
    expect(new Set(junitReport(same).match(/testcase name="[^"]*"/g)).size).toBe(4000);
  });
  it('keeps names whole, and what cannot be seen or XML cannot hold becomes visible', () => {
    expect(root.children[0]?.children[1]?.attributes.name).toBe(
      'a\nb ]]> <x a="1"> & \\u0000\\u0008\ufffd\\ud800 \u{1f600} \\u000d\t"',
    );
    expect(root.children[0]?.children[1]?.children[0]?.text).toContain('data.a differs: expected 1, found a\nb ]]>');
  });
});

it('CSV can be read back, and no cell begins a formula', () => {
  const rows: string[][] = parse(csvReport(reported));
  expect(rows).toHaveLength(7);
  for (const cell of rows.flat()) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
  expect(rows[3]?.[1]).toBe('\'=HYPERLINK("http://x")');
  expect(rows[2]?.[1]).toBe(nasty.replace('\ud800', '\ufffd'));
});

it('CSV and JSON have what the run changed, as the client wrote it, and say where it was too large', () => {
  const large = { ...reported, items: [item(1, { changed }), item(2, { cut: true }), item(3, {})] };
  const rows: string[][] = parse(csvReport(large));
  expect(rows.map((row) => row.at(-1))).toEqual(['changed', changed, '(too large to be kept)', '']);
  expect(jsonReport(large)).toContain(`"changed":${changed},"cut":false`);
  expect(JSON.parse(jsonReport(large)).items[1]).toMatchObject({ cut: true, changed: null });
});

it('Markdown stays a table whatever names hold', () => {
  const [head, , first] = markdownReport(reported).split('\n');
  expect(head).toBe('| target | passed | failed | error | unanswered | skipped | pending |');
  expect(first).toBe('| all | 1 | 1 | 1 | 0 | 0 | 0 |');
  expect(markdownReport(reported)).not.toMatch(/[^\\]<x|[^\\]\]/);
});

it('JSON has exact ids and all items', () => {
  const json = jsonReport(reported);
  expect(json).toContain('"ruleId":9223372036854775807');
  expect(JSON.parse(json)).toMatchObject({
    state: 'finished',
    counts: { passed: 1, unanswered: 1 },
    items: { length: 6 },
  });
});
