import { expect, test } from 'vitest';
import { readExecution } from '../../src/console/api/executions.ts';
import { differingNodes, firstDifference } from '../../src/console/run/compare.ts';
import { readRun } from '../../src/console/run/reading.ts';
import { toldExecution } from '../support/told-execution.ts';
import { leaf, node, placesOf } from './support/rule-tree.ts';

const { at, occurrences } = placesOf(node(1, 'And', [leaf(2), leaf(3)]));

function readingOf(amount: string, trace: 'steps' | 'process') {
  const step = (nodeId: number, parent: number | null, writes: string) =>
    `{"nodeId":${nodeId},"name":"N","role":"${parent === null ? 'root' : 'child'}","parent":${parent},"outcome":"TRUE","inverted":false,"start":0,"ms":1,"reads":[],"writes":[${writes}]}`;
  const wrote = `{"key":"amount","before":null,"after":${amount}}`;
  const steps = `"steps":[${[step(1, null, ''), step(2, 0, ''), step(3, 0, wrote)].join(',')}]`;
  const told = trace === 'steps' ? steps : '"process":"[2:N:T:0][3:N:T:0][1:N:T:1]"';
  const result = `{"success":true,"the service":{"amount":${amount}},"error":null,${told}}`;
  return readRun(readExecution(toldExecution({ result })), occurrences);
}

test('runs part at the node that wrote something else, to the last digit, though every node came to the same', () => {
  const differing = differingNodes(readingOf('9007199254740992', 'steps'), readingOf('9007199254740993', 'steps'));
  expect([...differing]).toEqual([at(3)]);
  expect(firstDifference(differing)).toBe(at(3));
  expect(differingNodes(readingOf('20', 'steps'), readingOf('20', 'steps')).size).toBe(0);
});

test('what was written is not compared with a trace that does not tell it', () => {
  expect(differingNodes(readingOf('20', 'steps'), readingOf('25', 'process')).size).toBe(0);
});
