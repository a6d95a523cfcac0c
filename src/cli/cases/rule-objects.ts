import { isLeaf, occurrencesOf, type TimeWindow, type TreeNode } from '../../shared/reasoning/tree.ts';
import { numberOfType } from '../../shared/rules/node-types.ts';
import { windowNumbers } from '../../shared/rules/time-window.ts';

/** Rules and nodes with the members of their files. */
export type RuleObjects = { rules: Record<string, unknown>[]; nodes: Record<string, unknown>[] };

type RuleOfTree = { root: TreeNode | null; timeWindow: TimeWindow | null | undefined };

/** The files that a tree was read from, as far as it tells them. */
export function ruleObjects({ root, timeWindow }: RuleOfTree, ruleId: string | null): RuleObjects {
  const nodes = new Map((root === null ? [] : occurrencesOf(root)).map(({ node }) => [node.id, node]));
  return {
    rules: ruleId === null ? [] : [{ id: ruleId, confId: root?.id, ...windowOf(timeWindow) }],
    nodes: [...nodes.values()]
      .filter(({ state }) => state === 'released')
      .map((node) => ({
        ...{ id: node.id, name: node.label ?? '', type: numberOfType(node.type), confName: node.className ?? '' },
        ...{ confField: node.values, inverse: node.inverse, errorState: node.errorState ?? undefined },
        ...(node.forward && { forwardId: node.forward.id }),
        ...(!isLeaf(node) && { sonIds: node.children.map(({ id }) => id).join(',') }),
        ...windowOf(node.timeWindow),
      })),
  };
}

function windowOf(window: TimeWindow | null | undefined) {
  if (window == null || window.type === 'always') return {};
  const { type, start, end } = window;
  return { timeType: windowNumbers[type], ...(start !== null && { start }), ...(end !== null && { end }) };
}
