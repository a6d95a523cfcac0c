import { z } from 'zod';
import { unknownNames } from '../../shared/contract/nearest.ts';
import { anyForm } from '../../shared/contract/target.ts';
import { messageOf } from '../../shared/reasons/words.ts';

export const app = z.int().positive().describe('The app that the rule belongs to.');
const id = z.union([z.int().positive(), z.string().regex(/^\d{1,19}$/)]).transform(String);
export const ruleId = id.describe('The rule; as text when it has more than 15 digits.').optional();
export const confId = id.describe('A node: only the sub-tree below it. With ruleId: inside that rule.').optional();
export const target = z.string().describe(`${anyForm('')}.`);
export const mockId = z.uuid().describe('The execution: find_runs names it.');
export const time = z.string().describe('Epoch milliseconds, or an ISO 8601 time.').optional();
export const where = z
  .array(z.string())
  .describe(
    'Conditions on the input that all hold, such as uid=42 or cost>=100. uid=42 also finds the text "42"; uid="42" finds the text alone. They need app.',
  )
  .optional();

export const READS = { readOnlyHint: true, openWorldHint: false };

/** The arguments of a tool. An unknown one is refused: a misspelt `dryRun` would otherwise run the rule for real. */
export const strictInput = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? unknownNames(issue.keys, Object.keys(shape))
            .map((each) => `${each.field} ${messageOf(each)}`)
            .join('; ')
        : undefined,
  });
