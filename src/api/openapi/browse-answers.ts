import { z } from 'zod';
import { int, int64, text } from '../../shared/contract/wire.ts';
import { type FindingCode, findingCodes, readinessStates } from '../../shared/reasoning/readiness.ts';

export const readinessAnswer = z
  .strictObject({
    app: int,
    target: text,
    state: z.enum(readinessStates).describe('Of all rules together.'),
    rules: z.array(
      z.strictObject({
        ruleId: int64,
        name: text.nullable(),
        digest: text.nullable().describe('Of the rules that are released now.'),
        state: z
          .enum(readinessStates)
          .describe('`can-ship`: its saved cases passed on this target and on these rules, and nothing stops it.'),
        batchId: text.nullable().describe('The last batch of its saved cases on this target.'),
        findings: z.array(
          z.strictObject({
            code: z.enum(Object.keys(findingCodes) as [FindingCode, ...FindingCode[]]),
            message: text,
            nodeId: int64.nullable(),
            parameters: z.record(text, text).describe('What stands in the sentence, for a page in another language.'),
          }),
        ),
      }),
    ),
  })
  .meta({ id: 'Readiness' });
