import { expect, test } from 'vitest';
import { readExecution } from '../../src/console/api/executions.ts';
import { compareRuns, endedRun, valueRows } from '../../src/console/run/compare.ts';
import { type Reading, readRun } from '../../src/console/run/reading.ts';
import { factsOfTrees } from '../../src/shared/conclusions/conclusion.ts';
import { parseExact } from '../../src/shared/contract/json/exact-json.ts';
import { toldExecution } from '../support/told-execution.ts';
import { leaf, node, placesOf } from './support/rule-tree.ts';

const rule = node(1, 'And', [leaf(2), node(3, 'LeafResult')]);
const { at, occurrences } = placesOf(rule);

function readingOf(amount: string, trace: 'steps' | 'process', reads = '', more = '') {
  const step = (nodeId: number, parent: number | null, writes: string) =>
    `{"nodeId":${nodeId},"name":"N","role":"${parent === null ? 'root' : 'child'}","parent":${parent},"outcome":"TRUE","inverted":false,"start":0,"ms":1,"reads":[${nodeId === 3 ? reads : ''}],"writes":[${writes}]}`;
  const wrote = `{"key":"amount","before":null,"after":${amount}}`;
  const steps = `"steps":[${[step(1, null, ''), step(2, 0, ''), step(3, 0, wrote)].join(',')}]`;
  const told = trace === 'steps' ? steps : '"process":"[2:N:T:0][3:N:T:0][1:N:T:1]"';
  const result = `{"success":true,"the service":{"amount":${amount}},"error":null,${told}${more}}`;
  const ending = { status: 200, code: null, reason: null, params: {}, mayHaveRun: true };
  return readRun(readExecution(toldExecution({ result, ending })), occurrences);
}

const facts = factsOfTrees([rule]);
const beside = (base: Reading, run: Reading) => compareRuns(endedRun(base, facts), endedRun(run, facts));

test('runs part at the node that wrote something else, to the last digit, though every node came to the same', () => {
  const compared = beside(readingOf('9007199254740992', 'steps'), readingOf('9007199254740993', 'steps'));
  expect(compared).toMatchObject({ kind: 'changed', changes: [{ part: 'data', path: 'amount' }], parting: null });
  expect([[...compared.places], compared.first]).toEqual([[at(3)], at(3)]);
  expect(beside(readingOf('20', 'steps'), readingOf('20', 'steps'))).toMatchObject({ kind: 'same', first: null });
});

test('what was written is not compared with a trace that does not tell it', () => {
  expect(beside(readingOf('20', 'steps'), readingOf('25', 'process')).places.size).toBe(0);
});

test('runs part at a node that came to the same with another key', () => {
  const reading = readingOf('20', 'steps', '{"key":"level","value":0}');
  expect(beside(reading, readingOf('20', 'steps', '{"key":"vip.level","value":null}')).first).toBe(at(3));
  expect(beside(reading, readingOf('20', 'steps', '{"key":"level","value":7}')).first).toBeNull();
});

test('of two dry runs that stop at the same node, and of a run without an answer, it is not known', () => {
  const dry = readingOf('20', 'process', '', ',"effects":{"assumed":[3],"stubbed":[],"unsure":[]}');
  expect(beside(dry, dry)).toMatchObject({ kind: 'unknown', notCompared: [{ why: 'not-called', nodes: ['3'] }, {}] });
  const none = { ...endedRun(dry, facts), conclusion: null };
  expect(compareRuns(none, none)).toMatchObject({ kind: 'unknown', notCompared: [{ why: 'not-kept' }] });
});

test('the values in which documents differ stand in the order of the documents; one that is not known differs in nothing', () => {
  const texts = ['{"a":1,"b":{"c":1e2,"d":[1,2]}}', '{"a":1.0,"b":{"c":101,"d":[1,2,3]}}', '{"a":1,"b":{"c":100}}'];
  const [one, other, third] = texts.map((text) => parseExact(text));
  expect(valueRows([one, other, undefined, third])).toEqual([
    { path: 'b.c', values: ['1e2', '101', null, '100'] },
    { path: 'b.d', values: ['[1,2]', '[1,2,3]', null, null] },
  ]);
  expect(valueRows([one, undefined, one])).toEqual([]);
});
