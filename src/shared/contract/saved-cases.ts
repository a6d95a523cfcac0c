import { z } from 'zod';
import { DATA_FIELD } from './data-field.ts';
import { int, int64, jsonObject, pageOf, text, time } from './wire.ts';

/** Which cases are saved for an app. */
export const savedCasesListSchema = z
  .object(pageOf(z.object({ ruleId: int64.nullable(), confId: int64.nullable(), bytes: int, changedAt: time })))
  .meta({ id: 'SavedCasesList' });
export type SavedFile = z.output<typeof savedCasesListSchema>['items'][number];

const caseSchema = z.object({
  name: text,
  line: int.nullable(),
  [DATA_FIELD]: jsonObject,
  ts: int64.nullable(),
  tags: z.array(text),
  skip: z.boolean(),
  expect: jsonObject.nullable(),
});
/** The saved cases of a rule or a node, each as a call has it. */
export const readCasesSchema = z
  .object({
    etag: text.nullable().describe('Null where none are saved.'),
    ignore: z.array(text),
    cases: z.array(caseSchema),
  })
  .meta({ id: 'ReadCases' });
export type ReadCases = z.output<typeof readCasesSchema>;

/** What a change of saved cases came to. `cases`: how many there are now. */
export const savedCasesSchema = z.object({ etag: text, cases: int }).meta({ id: 'SavedCases' });
/** The members of a refused change, beside those of every problem: what the saved cases are now, and those that differ. */
export const changedCases = { etag: text.nullable(), cases: z.array(text) };
