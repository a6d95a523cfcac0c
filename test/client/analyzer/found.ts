import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { leafNodesOf } from '../../../src/client/analyzer/leaf-nodes.ts';
import type { KeyPart } from '../../../src/client/analyzer/values.ts';
import { Data } from '../../../src/client/engine/data/data.ts';
import { type AccessedKey, createStore } from '../../../src/client/engine/data/keys.ts';
import { createRegistry } from '../../../src/client/leaves/registry.ts';
import type { Style } from './styles/style.ts';

/** What the analyzer finds in the code of a leaf, without an error. */
export function analyzed(leaf: Style['leaf']) {
  const errors: unknown[] = [];
  const [node] = leafNodesOf(createRegistry({ Leaf: leaf }), (error) => errors.push(error));
  expect(errors).toEqual([]);
  return { keys: node?.roamKeys ?? [], isIncomplete: node?.incomplete ?? false };
}

/** The keys that the analyzer finds in the code of a leaf; `?` where it says that there may be more. */
export function keysOf({ leaf }: Pick<Style, 'leaf'>): string[] {
  const { keys, isIncomplete } = analyzed(leaf);
  const texts = keys.map(({ keyParts }) => keyParts.map((part) => textOf(part)).join('|'));
  return [...new Set([...texts, ...(isIncomplete ? ['?'] : [])])].sort();
}

/** A key as text. `between`: what stands between its parts. */
export function textOf(part: KeyPart, between = ''): string {
  switch (part.type) {
    case 'literal':
      return part.value;
    case 'field':
      return `{${part.ref}}`;
    case 'roamDerived':
      return part.fromKey === '?' ? '?' : `<${part.fromKey}>`;
    case 'composite':
      return part.parts.map((each) => textOf(each, between)).join(between);
  }
}

/** The keys that a leaf touches when it runs. */
export async function touchedBy({ leaf }: Style): Promise<Set<string>> {
  const touched = new Set<string>();
  const log = { read: ({ key }: AccessedKey) => touched.add(key), wrote: ({ key }: AccessedKey) => touched.add(key) };
  const context = {
    store: createStore({}),
    ts: 1,
    signal: () => AbortSignal.abort(),
  };
  const made = typeof leaf === 'function' ? new leaf() : new leaf.leaf();
  made.afterPropertiesSet?.();
  const data = new Data(context, log);
  try {
    if ('doNone' in made) await made.doNone(data);
    else if ('doFlow' in made) await made.doFlow(data);
    await setTimeout(1);
  } catch {
    // What a leaf touched until it failed counts.
  }
  return touched;
}
