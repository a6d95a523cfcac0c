import { z } from 'zod';
import { int, int64, text } from './wire.ts';

/** The code of a finding says what it does to the answer. */
export const findingCodes = {
  'no-rule': 'stops',
  'missing-node': 'stops',
  'unusable-node': 'stops',
  circle: 'stops',
  'missing-class': 'stops',
  'wrong-setting': 'stops',
  failed: 'stops',
  unanswered: 'stops',
  'no-cases': 'untested',
  'never-run': 'untested',
  'other-rules': 'untested',
  'other-cases': 'untested',
  'not-checked': 'untested',
  'nothing-expected': 'untested',
  'classes-unknown': 'tells',
  'rule-over': 'tells',
  'node-over': 'tells',
  'not-reached': 'tells',
} as const satisfies Record<string, 'stops' | 'untested' | 'tells'>;
export type FindingCode = keyof typeof findingCodes;

const readinessStates = ['can-ship', 'cannot-ship', 'not-tested'] as const;
export type Readiness = (typeof readinessStates)[number];

const codeSchema = z.enum(Object.keys(findingCodes).filter(isFindingCode));
function isFindingCode(name: string): name is FindingCode {
  return Object.hasOwn(findingCodes, name);
}

const readyRuleSchema = z.object({
  ruleId: int64,
  name: text.nullable(),
  digest: text.nullable().describe('Of the rules that are released now.'),
  state: z
    .enum(readinessStates)
    .describe('`can-ship`: its saved cases passed on this target and on these rules, and nothing stops it.'),
  batchId: text.nullable().describe('The last batch of its saved cases on this target.'),
  findings: z.array(
    z.object({
      code: codeSchema,
      message: text,
      nodeId: int64.nullable(),
      parameters: z.record(text, text).describe('What stands in the sentence, for a page in another language.'),
    }),
  ),
});
export type RuleReadiness = z.output<typeof readyRuleSchema>;

/** Whether the rules of an app can be released to a target. */
export const readinessSchema = z
  .object({
    app: int,
    target: text,
    state: z.enum(readinessStates).describe('Of all rules together.'),
    rules: z.array(readyRuleSchema),
  })
  .meta({ id: 'Readiness' });
