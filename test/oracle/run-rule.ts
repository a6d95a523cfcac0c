import type { Data } from '../../src/client/engine/data/data.ts';
import { noOrigins, toExact } from '../../src/client/engine/data/values.ts';
import { describeLeaf } from '../../src/client/leaves/leaf.ts';
import { createRegistry } from '../../src/client/leaves/registry.ts';
import { printAnswer } from '../../src/client/print-answer.ts';
import { createRuleSet, type RuleSet } from '../../src/client/rules/rule-set.ts';
import { releasedOf } from '../../src/client/runs/load-objects.ts';
import { runRule } from '../../src/client/runs/run-rule.ts';
import { isExactObject } from '../../src/shared/contract/json/raw-number.ts';
import { type Json, readJson } from '../../src/shared/json-tree/read-json.ts';
import { type Input, objectsOf, type RandomNode } from './random-rule.ts';

class Compared {
  key = '';
  is = '=';
  to: unknown = null;
  without = false;
  doFlow(service: Data): boolean {
    const value = service.get(this.key);
    if (value == null) return this.without;
    if (Array.isArray(this.to)) return this.to.includes(value) === (this.is === 'in');
    if (typeof value === 'string') return (value === this.to) === (this.is === '=');
    const [one, other] = [Number(value), Number(this.to)];
    const holds = {
      '>=': one >= other,
      '<=': one <= other,
      '>': one > other,
      '<': one < other,
      '=': one === other,
      '!=': one !== other,
    };
    return Reflect.get(holds, this.is);
  }
}
class IsOdd {
  key = '';
  doFlow(service: Data): boolean {
    return Number(service.get(this.key) ?? 0) % 2 !== 0;
  }
}
class Fails {
  key = '';
  from = 0;
  doFlow(service: Data): boolean {
    const value = Number(service.get(this.key) ?? 0);
    if (value >= this.from) throw new Error(`${this.key} is ${value}`);
    return true;
  }
}
/** The actions of the run that is going on, by the ids of their nodes. */
const acted: number[] = [];
class Gives {
  key = '';
  amount = 0;
  says = true;
  node = 0;
  doResult(service: Data): boolean {
    acted.push(this.node);
    service.put(this.key, this.amount);
    return this.says;
  }
}
class LooksUp {
  key = '';
  turns = 0;
  async doNone(service: Data): Promise<void> {
    for (let turn = 0; turn < this.turns; turn++) await null;
    service.get(this.key);
  }
}
class Sets {
  key = '';
  value = 0;
  doNone(service: Data): void {
    service.put(this.key, this.value);
  }
}

/** After so many nothing of a run goes on any more. */
const MOST_TURNS = 200;
const computes = { effects: false } as const;
const registry = createRegistry({
  Compared: describeLeaf({ leaf: Compared }),
  ...{ IsOdd, Fails, Gives, LooksUp: { leaf: LooksUp, ...computes }, Sets: { leaf: Sets, ...computes } },
});

export const ruleSetOf = (root: RandomNode): RuleSet => createRuleSet(releasedOf(objectsOf(root)), registry);

/** `actions`: the nodes that acted, in order, also after the answer was written. */
export type Ran = { outcome: string | null; success: boolean; text: string; actions: readonly number[] };
type How = { ts?: number; dryRun?: boolean; withSteps?: boolean };

/** Runs a rule in this process. `text`: the answer that its client would have written. */
export async function run(
  rules: RuleSet,
  input: Input,
  { ts = 1, dryRun = false, withSteps = true }: How = {},
): Promise<Ran> {
  const data = toExact(input, noOrigins, 'it');
  if (!isExactObject(data)) throw new Error('no object');
  const request = { ruleId: 1n, confId: null, ts: BigInt(ts), data, ...(dryRun && { stubs: new Map() }) };
  acted.length = 0;
  const around = { ruleTimeoutMs: 5000, handleError: undefined, onError: () => {} };
  const { execution, ending } = await runRule(rules, request, around, { withSteps });
  const text = printAnswer({ mockId: 'm', executeAt: ts, rules: { version: 1n, digest: null }, execution, ending });
  const success = ending.kind === 'done';
  for (let turn = 0; turn < MOST_TURNS; turn++) await null;
  return { outcome: success ? ending.outcome : null, success, text, actions: [...acted] };
}

export function jsonOf(input: Input): Json {
  const read = readJson(JSON.stringify(input));
  if (read.kind === 'bad') throw new Error(read.fault.problem);
  return read.root;
}
