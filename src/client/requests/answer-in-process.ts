import { parseExact } from '../../shared/contract/json/exact-json.ts';
import { isExactObject } from '../../shared/contract/json/raw-number.ts';
import type { AnyLeaves } from '../leaves/leaf.ts';
import { createRegistry } from '../leaves/registry.ts';
import { printAnswer } from '../print-answer.ts';
import { digestOf } from '../rules/digest.ts';
import { readReleased } from '../rules/released-files.ts';
import { createRuleSet } from '../rules/rule-set.ts';
import { type RuleObjects, releasedOf } from '../runs/load-objects.ts';
import { runRule } from '../runs/run-rule.ts';
import { watchStrayErrors } from '../runs/stray-errors.ts';

export type { AnyLeaves, RuleObjects };

/** The part to run. Ids and the time are decimal text, `input` is JSON text. */
type Asked = {
  ruleId: string | null;
  confId: string | null;
  ts: string | null;
  input: string;
  /** Without effects. */
  dryRun: boolean;
};

type Options = { leaves: AnyLeaves; onError: (error: unknown) => void };

const RULE_TIMEOUT_MS = 55_000;

/**
 * Answers in this process as a client with these leaves would, with the text of a result file. The rules are those of a folder, or objects.
 * Nothing is registered or written. `problems`: what is wrong with the rules, one sentence each.
 */
export async function openInProcess(from: string | RuleObjects, { leaves, onError }: Options) {
  watchStrayErrors();
  const released = typeof from === 'string' ? await readReleased(from) : releasedOf(from);
  const rules = createRuleSet(released, createRegistry(leaves));
  const running = { ruleTimeoutMs: RULE_TIMEOUT_MS, handleError: undefined, onError };

  return {
    problems: rules.problems,

    /** Whether a node is a consequence, by its file; null for one that has none. */
    acts: (id: string): boolean | null => {
      const node = rules.released.nodes.get(BigInt(id));
      return node === undefined ? null : node.type.name === 'LeafResult';
    },

    async answer({ ruleId, confId, ts, input, dryRun }: Asked): Promise<string> {
      const data = parseExact(input);
      if (!isExactObject(data)) throw new TypeError('the input must be a JSON object');
      const selection = { ruleId: idOf(ruleId), confId: idOf(confId) };
      const request = { ...selection, ts: idOf(ts), data, ...(dryRun && { stubs: new Map() }) };
      const executeAt = Date.now();
      const { execution, ending } = await runRule(rules, request, running, { withSteps: false });
      const ranOn = { version: rules.version, digest: digestOf(rules.released, selection) };
      return printAnswer({ mockId: 'in-process', executeAt, rules: ranOn, execution, ending });
    },
  };
}

const idOf = (text: string | null): bigint | null => (text === null ? null : BigInt(text));
