import { describe, expect, test } from 'vitest';
import { type Nodes, rulesOf, run } from '../support/run-rule.ts';
import { leafFile, smallLeaves } from '../support/small-leaves.ts';

const children = ['', 'T', 'F', 'N', 'TF', 'FT', 'TN', 'NT', 'FN', 'NF', 'NN', 'TT', 'FF', 'NTF', 'NFT', 'TFN'];

/** State of each relation over each list of children, and how many of them run, as the Java SDK has it. */
const expected: Record<string, (letters: string) => { state: string; ran: number }> = {
  And: (letters) => ({
    state: letters.includes('F') ? 'FALSE' : letters.includes('T') ? 'TRUE' : 'NONE',
    ran: letters.includes('F') ? letters.indexOf('F') + 1 : letters.length,
  }),
  Any: (letters) => ({
    state: letters.includes('T') ? 'TRUE' : letters.includes('F') ? 'FALSE' : 'NONE',
    ran: letters.includes('T') ? letters.indexOf('T') + 1 : letters.length,
  }),
  All: (letters) => ({
    state: letters.includes('T') ? 'TRUE' : letters.includes('F') ? 'FALSE' : 'NONE',
    ran: letters.length,
  }),
  None: (letters) => ({ state: 'NONE', ran: letters.length }),
  True: (letters) => ({ state: 'TRUE', ran: letters.length }),
};
const serialType: Record<string, number> = { None: 0, And: 1, True: 2, All: 3, Any: 4 };
const full: Record<string, string> = { T: 'TRUE', F: 'FALSE', N: 'NONE' };

describe.each(Object.keys(expected))('%s', (relation) => {
  test.each(children)('over "%s"', async (letters) => {
    const { state, ran } = expected[relation]?.(letters) ?? {};
    const { outcome, steps, process } = await run(rulesOf(tree(serialType[relation] ?? -1, letters), smallLeaves));
    expect(outcome).toBe(state);
    expect(steps.length).toBe(1 + (ran ?? 0));
    expect(process).toContain(`[1:${relation}:${state?.charAt(0)}:0]`);
  });

  test.each(children)('in parallel over "%s" every child runs', async (letters) => {
    // The Java SDK passes an only child's state on, whatever the relation.
    const state = letters.length === 1 ? full[letters] : expected[relation]?.(letters).state;
    const { outcome, process } = await run(rulesOf(tree(parallelOf(serialType[relation] ?? -1), letters), smallLeaves));
    expect(outcome).toBe(state);
    const entries = [...letters].map(
      (letter, index) => `[${index + 2}:${leafFile[letterOf(letter)].confName}:${letter}:0]`,
    );
    expect(process).toBe(`${entries.join('')}[1:P-${relation}:${state?.charAt(0)}:0]`);
  });
});

const parallelOf = (type: number) => type + 8;
const letterOf = (letter: string) => (letter === 'T' || letter === 'F' ? letter : 'N');

function tree(type: number, letters: string): Nodes {
  const nodes: Nodes = { 1: { type, sonIds: [...letters].map((_, index) => index + 2).join(',') } };
  for (const [index, letter] of [...letters].entries()) nodes[index + 2] = leafFile[letterOf(letter)];
  return nodes;
}
