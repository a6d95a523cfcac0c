import type { Step } from '../../../src/client/engine/steps.ts';
import type { RandomNode } from './random-rule.ts';

/**
 * The process text that steps stand for, in the way the Python SDK writes it: what ran below a parallel node is not told. Every
 * duration is 0.
 */
export function pythonProcess(steps: readonly Step[], nodes: ReadonlyMap<number, RandomNode>): string {
  const children = new Map<Step | null, Step[]>();
  for (const step of steps) children.set(step.parent, [...(children.get(step.parent) ?? []), step]);

  const entry = (step: Step): string => {
    const own = step.inverted ? (step.outcome === 'TRUE' ? 'FALSE' : 'TRUE') : step.outcome;
    const inverse = nodes.get(Number(step.nodeId))?.inverse ? '-I' : '';
    const tail = own === 'OUT_OF_TIME' ? `O${inverse}:0` : own === 'REJECTED' ? 'R-F' : `${letter(own)}${inverse}:0`;
    return `[${step.nodeId}:${step.name}:${tail}]`;
  };
  const textOf = (step: Step): string => {
    const below = children.get(step) ?? [];
    const told = below.filter(({ role }) => role === 'forward' || !step.name.startsWith('P-'));
    return [...told.map(textOf), entry(step)].join('');
  };
  return (children.get(null) ?? []).map(textOf).join('');
}

const letter = (outcome: string): string => (outcome === 'ERROR' ? 'S' : outcome.charAt(0));

/** The ALL nodes that saw both TRUE and FALSE: there the Python SDK says FALSE where the others say TRUE. */
export function mixedAlls(steps: readonly Step[]): Step[] {
  return steps.filter(({ name }, index) => {
    const children = steps.filter(({ role, parent }) => role === 'child' && parent === steps[index]);
    const outcomes = new Set(children.map(({ outcome }) => (outcome === 'REJECTED' ? 'FALSE' : outcome)));
    return name.endsWith('All') && outcomes.has('TRUE') && outcomes.has('FALSE');
  });
}
