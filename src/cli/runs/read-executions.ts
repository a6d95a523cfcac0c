import type { z } from 'zod';
import { executionListSchema, type ListedExecution } from '../../shared/contract/execution.ts';
import { get, type HttpApi, readAnswer } from '../terminal/http-api.ts';

/** `searched`: of a search, how far it came. */
export type Page = z.output<typeof executionListSchema>;

/** One page of GET executions. Throws `CommandFailed` with its sentence when there is none. */
export async function readExecutions(api: HttpApi, query: URLSearchParams): Promise<Page> {
  return readAnswer(executionListSchema, await get(api, 'executions', query));
}

/** The rule that an execution ran: `app 7 rule 42`. */
export function whatRan({ app, ruleId, confId }: Pick<ListedExecution, 'app' | 'ruleId' | 'confId'>): string {
  return [`app ${app}`, ruleId && `rule ${ruleId}`, confId && `node ${confId}`].filter(Boolean).join(' ');
}
