import { describe, expect, test } from 'vitest';
import { readProcess } from '../../src/shared/reasoning/trace/read-process.ts';
import { replayProcess } from '../../src/shared/reasoning/trace/replay.ts';
import type { TreeNode } from '../../src/shared/reasoning/tree.ts';
import { leaf, node, placesOf } from './support/rule-tree.ts';

/** Every place as `id:outcome`, `-` where nothing ran, late ones with a `*`. */
function painted(root: TreeNode, process: string) {
  const { occurrences } = placesOf(root);
  const { entries, rest } = readProcess(process);
  const { nodeTraces, unplaced } = replayProcess(occurrences, entries);
  const places = occurrences.map((occurrence) => {
    const nodeTrace = nodeTraces.get(occurrence);
    return `${occurrence.node.id}:${nodeTrace ? nodeTrace.outcome + (nodeTrace.late ? '*' : '') : '-'}`;
  });
  return { places: places.join(' '), unplaced: unplaced.map(({ id }) => id).join(' '), rest };
}

const campaign = node(10, 'And', [
  leaf(11),
  node(12, 'Any', [leaf(14), leaf(15, { inverse: true })]),
  node(13, 'LeafResult', [], { forward: node(16, 'All', [leaf(17), node(18, 'LeafNone')]) }),
  leaf(20, { timeWindow: { type: 'before', start: null, end: '1000' } }),
  node(21, 'None', [node(23, 'LeafNone'), node(24, 'LeafNone')]),
  node(22, 'True', [leaf(25, { forward: leaf(26) })]),
]);
const campaignPainted =
  '10:TRUE 11:TRUE 12:TRUE 14:TRUE 15:- 13:TRUE 16:TRUE 17:TRUE 18:NONE 20:OUT_OF_TIME 21:NONE 23:NONE 24:NONE 22:TRUE 25:REJECTED 26:FALSE';

describe('traces of the published clients over one rule', () => {
  test('the Python and the Go client', () => {
    const process =
      '[11:ScoreFlow:T:0][14:AgeFlow:T:0][12:Any:T:0][17:UidFlow:T:0][18:ProbeNone:N:0][16:All:T:0][13:AmountResult:T:0][20:AgeFlow:O:0][23:DerivedNone:N:0][24:UnionNone:N:0][21:None:N:0][26:AgeFlow:F:0][25:AgeFlow:R-F][22:True:T:0][10:And:T:0]';
    expect(painted(campaign, process)).toEqual({ places: campaignPainted, unplaced: '', rest: '' });
  });

  test('the Java client, which writes no time where nothing ran', () => {
    const process =
      '[11:ScoreFlow:T:0][14:AgeFlow:T:0][12:Any:T:0][17:UidFlow:T:0][18:ProbeNone:N:1][16:All:T:1][13:AmountResult:T:1][20:AgeFlow:O][23:DerivedNone:N:0][24:UnionNone:N:0][21:None:N:0][26:AgeFlow:F:0][25:AgeFlow:R-F][22:True:T:0][10:And:T:1]';
    expect(painted(campaign, process)).toEqual({ places: campaignPainted, unplaced: '', rest: '' });
  });

  test('stopped at the first child', () => {
    expect(painted(campaign, '[11:ScoreFlow:F:0][10:And:F:0]').places).toMatch(/^10:FALSE 11:FALSE 12:- 14:-/);
  });
});

describe('parallel nodes', () => {
  const root = node(50, 'And', [
    node(51, 'P-And', [leaf(61), leaf(62)]),
    node(52, 'P-Any', [leaf(61), leaf(63)], { inverse: true }),
    node(53, 'P-All', [leaf(61), leaf(63)]),
    node(54, 'P-None', [leaf(63), node(64, 'LeafNone')]),
    node(55, 'P-True', [leaf(63)]),
  ]);

  test('the Python client does not list their children', () => {
    expect(painted(root, '[51:P-And:T:1][52:P-Any:T-I:0][50:And:F:1]').places).toBe(
      '50:FALSE 51:TRUE 61:- 62:- 52:FALSE 61:- 63:- 53:- 61:- 63:- 54:- 63:- 64:- 55:- 63:-',
    );
  });

  test('the Go client lists them in the order they ended', () => {
    const process =
      '[62:AmountResult:T:0][61:AgeFlow:T:0][51:P-And:T:0][63:AgeFlow:F:0][61:AgeFlow:T:0][52:P-Any:T-I:0][50:And:F:0]';
    expect(painted(root, process)).toEqual({
      places: '50:FALSE 51:TRUE 61:TRUE 62:TRUE 52:FALSE 61:TRUE 63:FALSE 53:- 61:- 63:- 54:- 63:- 64:- 55:- 63:-',
      unplaced: '',
      rest: '',
    });
  });

  test('the Java client writes a parallel ANY without its number', () => {
    const process =
      '[61:AgeFlow:T:0][62:AmountResult:T:0][51:P-And:T:4][61:AgeFlow:T:0][63:AgeFlow:F:0][0:P-Any:T:0][61:AgeFlow:T:0][63:AgeFlow:F:0][53:P-All:T:0][63:AgeFlow:F:0][64:SleepNone:N:30][54:P-None:N:31][63:AgeFlow:F:0][55:P-True:F:0][50:And:F:35]';
    expect(painted(root, process)).toEqual({
      places:
        '50:FALSE 51:TRUE 61:TRUE 62:TRUE 52:TRUE 61:TRUE 63:FALSE 53:TRUE 61:TRUE 63:FALSE 54:NONE 63:FALSE 64:NONE 55:FALSE 63:FALSE',
      unplaced: '',
      rest: '',
    });
  });

  test.each([
    ['Java', '[121:AgeFlow:T:0][0:P-Any:T:3][162:SleepNone:N:50][163:SleepNone:N:100][160:And:T:103]'],
    ['Go', '[121:AgeFlow:T:0][161:P-Any:T:0][162:SleepNone:N:50][163:SleepNone:N:101][160:And:T:101]'],
  ])('a child that ends after its parent has decided is late (%s)', (_client, process) => {
    const straggling = node(160, 'And', [
      node(161, 'P-Any', [leaf(121), node(162, 'LeafNone')]),
      node(163, 'LeafNone'),
    ]);
    expect(painted(straggling, process)).toEqual({
      places: '160:TRUE 161:TRUE 121:TRUE 162:NONE* 163:NONE',
      unplaced: '',
      rest: '',
    });
  });
});

describe('the same node in several places', () => {
  test('each place has an entry of its own', () => {
    const root = node(164, 'And', [leaf(121), leaf(121), node(165, 'Any', [leaf(121), leaf(121)])]);
    expect(painted(root, '[121:AgeFlow:T:1][121:AgeFlow:F:2][164:And:F:0]').places).toBe(
      '164:FALSE 121:TRUE 121:FALSE 165:- 121:- 121:-',
    );
    expect(painted(root, '[121:AgeFlow:T:0][121:AgeFlow:T:0][121:AgeFlow:T:0][165:Any:T:0][164:And:T:0]').places).toBe(
      '164:TRUE 121:TRUE 121:TRUE 165:TRUE 121:TRUE 121:-',
    );
  });

  test('a whole branch that stands twice', () => {
    const branch = () => node(2, 'Any', [leaf(3), leaf(4)]);
    const root = node(1, 'All', [branch(), branch()]);
    expect(painted(root, '[3:A:F:0][4:B:T:0][2:Any:T:0][3:A:T:0][2:Any:T:0][1:All:T:0]').places).toBe(
      '1:TRUE 2:TRUE 3:FALSE 4:TRUE 2:TRUE 3:TRUE 4:-',
    );
  });
});

describe('traces that are not quite right', () => {
  test('a class the client does not know leaves its place empty', () => {
    const root = node(1, 'And', [leaf(2), leaf(3), leaf(4)]);
    expect(painted(root, '[2:A:T:0][4:C:T:0][1:And:T:0]').places).toBe('1:TRUE 2:TRUE 3:- 4:TRUE');
  });

  test('entries of nodes that are not in the tree are named, the others are painted', () => {
    const root = node(1, 'And', [leaf(2)]);
    expect(painted(root, '[2:A:T:0][9:Old:F:0][1:And:F:0]')).toEqual({
      places: '1:FALSE 2:TRUE',
      unplaced: '9',
      rest: '',
    });
  });

  test('a trace of another rule paints nothing', () => {
    expect(painted(node(1, 'And', [leaf(2)]), '[7:A:T:0][8:And:T:0]')).toEqual({
      places: '1:- 2:-',
      unplaced: '7 8',
      rest: '',
    });
  });

  test('names with brackets and colons are part of the name', () => {
    expect(
      readProcess('[150:a:b][:T:0][151:x]y:F-I:12]').entries.map(({ id, name, nodeTrace }) => [
        id,
        name,
        nodeTrace.outcome,
        nodeTrace.ms,
      ]),
    ).toEqual([
      ['150', 'a:b][', 'TRUE', 0],
      ['151', 'x]y', 'TRUE', 12],
    ]);
  });

  test('what is no trace at its end is kept apart', () => {
    expect(readProcess('[1:And:T:0] and more')).toMatchObject({ entries: [], rest: '[1:And:T:0] and more' });
    expect(readProcess('hello')).toEqual({ entries: [], rest: 'hello' });
    expect(readProcess('')).toEqual({ entries: [], rest: '' });
  });

  test('ten thousand entries of one node are laid out quickly', () => {
    const many = 10_000;
    const root = node(
      1,
      'All',
      Array.from({ length: many }, () => leaf(2)),
    );
    const startedAt = performance.now();
    const { places } = painted(root, `${'[2:A:T:0]'.repeat(many)}[1:All:T:0]`);
    expect(places.split(' ')).toHaveLength(many + 1);
    expect(places).not.toContain('-');
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });
});
