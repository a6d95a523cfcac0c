import type { AnyNode } from 'acorn';
import type { Environment } from './environment.ts';
import type { Evaluator } from './evaluator.ts';
import { type KeyPart, keyPartOf } from './things.ts';

/** What an expression may be as a key, each way once. */
export function keysOf(node: AnyNode, environment: Environment, { evaluate }: Evaluator): KeyPart[] {
  const parts = evaluate(node, environment).map(keyPartOf);
  return [...new Map(parts.map((part) => [JSON.stringify(part), part])).values()];
}
