import { describe, expect, test } from 'vitest';
import { compactJson } from '../../src/shared/json-tree/print-json.ts';
import { readJson } from '../../src/shared/json-tree/read-json.ts';
import { replaySteps } from '../../src/shared/reasoning/trace/replay-steps.ts';
import { leaf, node, placesOf } from './support/rule-tree.ts';

const stepsOf = (text: string) => {
  const read = readJson(text);
  if (read.kind === 'bad') throw new Error(read.fault.problem);
  return read.root;
};
const step = (nodeId: number, role: string, parent: number | null, outcome: string, more = '') =>
  `{"nodeId":${nodeId},"name":"N","role":"${role}","parent":${parent},"outcome":"${outcome}","inverted":false,"start":0,"ms":1.5,"reads":[],"writes":[]${more}}`;

describe('a structured trace over the tree', () => {
  const root = node(1, 'And', [leaf(2, { forward: leaf(3) }), node(4, 'Any', [leaf(2, { forward: leaf(3) })])]);

  test('each step goes where the step above it is, conditions to conditions', () => {
    const { at, occurrences } = placesOf(root);
    const text = `[${[
      step(1, 'root', null, 'FALSE'),
      step(2, 'child', 0, 'REJECTED'),
      step(3, 'forward', 1, 'FALSE'),
    ].join(',')}]`;
    const { nodeTraces, unplaced } = replaySteps(occurrences, stepsOf(text));
    expect(unplaced).toEqual([]);
    expect([at(1), at(2), at(3), at(4), at(2, 1)].map((place) => nodeTraces.get(place)?.outcome)).toEqual([
      'FALSE',
      'REJECTED',
      'FALSE',
      undefined,
      undefined,
    ]);
  });

  test('values read and written keep every digit', () => {
    const { at, occurrences } = placesOf(leaf(7));
    const more =
      ',"error":"slow","reads":[{"key":"uid","value":9007199254740993},{"key":"level"}],"writes":[{"key":"score","before":0.10,"after":1e400}]';
    const text = `[${step(7, 'root', null, 'TRUE').replace(',"reads":[],"writes":[]', more)}]`;
    const nodeTrace = replaySteps(occurrences, stepsOf(text)).nodeTraces.get(at(7));
    expect(nodeTrace?.error).toBe('slow');
    expect(nodeTrace?.ms).toBe(1.5);
    expect(nodeTrace?.reads.map(({ key, value }) => [key, value && compactJson(value)])).toEqual([
      ['uid', '9007199254740993'],
      ['level', null],
    ]);
    expect(
      nodeTrace?.writes.map(({ before, after }) => [before && compactJson(before), after && compactJson(after)]),
    ).toEqual([['0.10', '1e400']]);
  });

  test('a step of a node that is not there is named, and what ran below it too', () => {
    const { occurrences } = placesOf(node(1, 'And', [leaf(2)]));
    const text = `[${[step(1, 'root', null, 'TRUE'), step(9, 'child', 0, 'TRUE'), step(2, 'child', 1, 'TRUE')].join(',')}]`;
    expect(replaySteps(occurrences, stepsOf(text)).unplaced.map(({ id }) => id)).toEqual(['9', '2']);
  });

  test('something else than steps paints nothing and breaks nothing', () => {
    const { occurrences } = placesOf(leaf(1));
    for (const text of ['{}', '"steps"', '[1,null,{}]', '[{"nodeId":1,"parent":7}]']) {
      expect(replaySteps(occurrences, stepsOf(text)).nodeTraces.size).toBe(0);
    }
  });
});
