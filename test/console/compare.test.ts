import { expect, test } from 'vitest';
import { readExecution } from '../../src/console/api/executions.ts';
import { differingValues, partingOf } from '../../src/console/run/compare.ts';
import { readRun } from '../../src/console/run/reading.ts';
import { compactJson } from '../../src/shared/json-tree/print-json.ts';
import { readJson } from '../../src/shared/json-tree/read-json.ts';
import { toldExecution } from '../support/told-execution.ts';
import { leaf, node, placesOf } from './support/rule-tree.ts';

const { at, occurrences } = placesOf(node(1, 'And', [leaf(2), leaf(3)]));

function readingOf(amount: string, trace: 'steps' | 'process', reads = '') {
  const step = (nodeId: number, parent: number | null, writes: string) =>
    `{"nodeId":${nodeId},"name":"N","role":"${parent === null ? 'root' : 'child'}","parent":${parent},"outcome":"TRUE","inverted":false,"start":0,"ms":1,"reads":[${nodeId === 3 ? reads : ''}],"writes":[${writes}]}`;
  const wrote = `{"key":"amount","before":null,"after":${amount}}`;
  const steps = `"steps":[${[step(1, null, ''), step(2, 0, ''), step(3, 0, wrote)].join(',')}]`;
  const told = trace === 'steps' ? steps : '"process":"[2:N:T:0][3:N:T:0][1:N:T:1]"';
  const result = `{"success":true,"the service":{"amount":${amount}},"error":null,${told}}`;
  return readRun(readExecution(toldExecution({ result })), occurrences);
}

test('runs part at the node that wrote something else, to the last digit, though every node came to the same', () => {
  const { places, first } = partingOf(readingOf('9007199254740992', 'steps'), readingOf('9007199254740993', 'steps'));
  expect([...places]).toEqual([at(3)]);
  expect(first).toBe(at(3));
  expect(partingOf(readingOf('20', 'steps'), readingOf('20', 'steps'))).toEqual({ places: new Set(), first: null });
});

test('what was written is not compared with a trace that does not tell it', () => {
  expect(partingOf(readingOf('20', 'steps'), readingOf('25', 'process')).places.size).toBe(0);
});

test('runs part at a node that came to the same with another key', () => {
  const reading = readingOf('20', 'steps', '{"key":"level","value":0}');
  expect(partingOf(reading, readingOf('20', 'steps', '{"key":"vip.level","value":null}')).first).toBe(at(3));
  expect(partingOf(reading, readingOf('20', 'steps', '{"key":"level","value":7}')).first).toBeNull();
});

const documents = (...texts: (string | null)[]) =>
  texts.map((text) => {
    const read = text === null ? null : readJson(text);
    return read?.kind === 'ok' ? read.root : null;
  });

test('the values in which documents differ stand in the order of the documents, each to the last digit', () => {
  const rows = differingValues(
    documents('{"a":1,"b":{"c":1e2,"d":[1,2]}}', '{"a":1.0,"b":{"c":101,"d":[1,2,3]}}', '{"a":1,"b":{"c":100}}'),
  );
  expect(rows.map(({ path, values }) => [path, values.map((value) => value && compactJson(value))])).toEqual([
    ['b.c', ['1e2', '101', '100']],
    ['b.d', ['[1,2]', '[1,2,3]', null]],
  ]);
});

test('a document that is not known differs in nothing; a value that one has not is none', () => {
  expect(differingValues(documents('{"a":1}', null, '{"a":1}'))).toEqual([]);
  expect(differingValues(documents('{"a":1}', '{}'))).toMatchObject([{ path: 'a', values: [{ text: '1' }, null] }]);
});
