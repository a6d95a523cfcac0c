import type { ExactValue } from '../../shared/contract/json/raw-number.ts';
import { digits, field, list, oneOf, text } from '../../shared/contract/json/read-exact.ts';
import { type FindingCode, findingCodes, type Readiness, readinessStates } from '../../shared/reasoning/readiness.ts';
import { get, withQuery } from './request.ts';

/** `code` is null for one that this page does not know. */
type Finding = { code: FindingCode | null; message: string; parameters: Record<string, string> };
export type RuleReadiness = {
  ruleId: string;
  name: string | null;
  state: Readiness;
  batchId: string | null;
  findings: Finding[];
};

/** Whether each rule of an app can be released to a target. */
export function getReadiness(app: string, target: string, signal?: AbortSignal): Promise<RuleReadiness[]> {
  const path = withQuery('/rule-server/mock/readiness', { app, target });
  return get(path, (answer) => list(field(answer, 'rules')).map(readRule), signal);
}

function readRule(rule: ExactValue): RuleReadiness {
  return {
    ruleId: digits(field(rule, 'ruleId')) ?? '',
    name: text(field(rule, 'name')),
    state: oneOf(field(rule, 'state'), readinessStates),
    batchId: text(field(rule, 'batchId')),
    findings: list(field(rule, 'findings')).map(readFinding),
  };
}

function readFinding(finding: ExactValue): Finding {
  const written = text(field(finding, 'code'));
  const known = Object.keys(findingCodes) as FindingCode[];
  return {
    code: known.find((code) => code === written) ?? null,
    message: text(field(finding, 'message')) ?? '',
    parameters: Object.fromEntries(
      Object.keys(Object(field(finding, 'parameters'))).map((name) => [
        name,
        text(field(field(finding, 'parameters'), name)) ?? '',
      ]),
    ),
  };
}
