import { type RuleReadiness, readinessSchema } from '../../shared/contract/readiness.ts';
import { getAs, withQuery } from './request.ts';

export type { RuleReadiness };

/** Whether each rule of an app can be released to a target. */
export async function getReadiness(app: string, target: string, signal?: AbortSignal): Promise<RuleReadiness[]> {
  return (await getAs(withQuery('/rule-server/mock/readiness', { app, target }), readinessSchema, signal)).rules;
}
