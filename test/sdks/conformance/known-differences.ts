import { AS_OF, type RandomNode, type RandomRule } from './random-rule.ts';

/** A rule that ends differently here (`node`) and in the Python SDK, with the process text of each. */
export type Difference = RandomRule & { title: string; node: string; python: string };

const yes = { type: 5, confName: 'com.sample.AgeFlow', confField: '{"min":18}' };
const no = { type: 5, confName: 'com.sample.AgeFlow', confField: '{"min":99}' };
const boom = { type: 5, confName: 'com.sample.BoomFlow' };
const writes = { type: 6, confName: 'com.sample.AmountResult', confField: '{"prefix":"p_"}' };

type Case = Omit<Difference, 'id' | 'root' | 'nodes'> & { nodes: Omit<RandomNode, 'id'>[] };

/** Ids count from 1 in each rule; `{1}` stands for the first node's. The first is the root. */
const cases: Case[] = [
  {
    title: 'ALL over TRUE and FALSE',
    nodes: [{ type: 3, sonIds: '{2},{3}' }, yes, no],
    node: '[{2}:AgeFlow:T:0][{3}:AgeFlow:F:0][{1}:All:T:0]',
    python: '[{2}:AgeFlow:T:0][{3}:AgeFlow:F:0][{1}:All:F:0]',
  },
  {
    title: 'errorState 0',
    nodes: [{ ...boom, errorState: 0 }],
    node: '[{1}:BoomFlow:F:0]',
    python: 'failed: kaboom',
  },
  {
    title: 'errorState 1',
    nodes: [{ ...boom, errorState: 1 }],
    node: '[{1}:BoomFlow:T:0]',
    python: '[{1}:BoomFlow:F:0]',
  },
  {
    title: 'errorState 3',
    nodes: [{ ...boom, errorState: 3 }],
    node: 'failed: kaboom',
    python: '[{1}:BoomFlow:N:0]',
  },
  {
    title: 'a window between two times of which one is missing',
    nodes: [{ ...yes, timeType: 7, start: AS_OF - 1 }],
    node: '[{1}:AgeFlow:O]',
    python: '[{1}:AgeFlow:T:0]',
  },
  {
    title: 'what a node outside its window is noted as',
    nodes: [{ ...yes, inverse: true, timeType: 6, end: 1 }],
    node: '[{1}:AgeFlow:O]',
    python: '[{1}:AgeFlow:O-I:0]',
  },
  {
    title: 'an only child of a parallel relation',
    nodes: [{ type: 10, sonIds: '{2}' }, no],
    node: '[{2}:AgeFlow:F:0][{1}:P-True:F:0]',
    python: '[{1}:P-True:T:0]',
  },
  {
    title: 'an error below a parallel relation',
    nodes: [{ type: 9, sonIds: '{2},{3}' }, yes, boom],
    node: 'failed: kaboom',
    python: '[{1}:P-And:S:0]',
  },
  {
    title: 'what is written below a parallel relation',
    nodes: [{ type: 1, sonIds: '{2},{5}' }, { type: 11, sonIds: '{3},{4}' }, writes, yes, { ...readsCount(), type: 5 }],
    node: '[{3}:AmountResult:T:0][{4}:AgeFlow:T:0][{2}:P-All:T:0][{5}:ScoreFlow:T:0][{1}:And:T:0]',
    python: '[{2}:P-All:T:0][{5}:ScoreFlow:F:0][{1}:And:F:0]',
  },
];

function readsCount() {
  return { confName: 'com.sample.ScoreFlow', confField: '{"key":"count","score":1}' };
}

export const differences: Difference[] = cases.map(({ title, nodes, node, python }, index) => {
  const id = 5001 + index;
  const filled = (text: string) => text.replace(/\{(\d)\}/g, (_, number) => String(id * 1000 + Number(number)));
  return {
    ...{ id, title, root: id * 1000 + 1, node: filled(node), python: filled(python) },
    nodes: nodes.map((each, at) => ({
      ...each,
      id: id * 1000 + at + 1,
      ...(each.sonIds === undefined ? {} : { sonIds: filled(each.sonIds) }),
    })),
  };
});
