import type { AskedRequest, ExecuteRequest } from '../../shared/contract/execute-request.ts';
import { QUERY_VERSION } from '../../shared/contract/query.ts';
import { ruleListSchema } from '../../shared/contract/rules-and-clients.ts';
import { readAs } from '../../shared/contract/wire.ts';
import type { Refusal } from '../../shared/runtime/http-refusals.ts';
import type { AskWorker } from '../ask-worker.ts';

/** The call with its rule; or why its scene names none. */
export type InScene =
  | { kind: 'request'; request: ExecuteRequest }
  | { kind: 'no-rule'; error: string }
  | ({ kind: 'no-worker' } & Refusal);

export type RuleOfScene = (request: AskedRequest) => Promise<InScene>;

/**
 * Puts the rule in the place of the scene that names it: the first one that is released, by id. A worker knows the rules; from here on
 * the call is one for that rule, in the queue, the files and the history.
 */
export function createRuleOfScene({ ask }: Pick<AskWorker, 'ask'>): RuleOfScene {
  return async (request) => {
    const { scene } = request;
    if (scene === null || request.ruleId !== null) return { kind: 'request', request };
    const { app } = request;
    const reply = await ask({ v: QUERY_VERSION, ask: 'rules', app });
    if (reply.kind === 'refused') return { ...reply, kind: 'no-worker' };
    const { items } = readAs(ruleListSchema, reply.body);
    const rule = items.find(({ status, scenes }) => scenes.includes(scene) && status !== null && BigInt(status) >= 0n);
    return rule
      ? { kind: 'request', request: { ...request, ruleId: BigInt(rule.ruleId) } }
      : { kind: 'no-rule', error: `names no rule: app ${app} has released none in it` };
  };
}
