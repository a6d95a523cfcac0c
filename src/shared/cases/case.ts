import { z } from 'zod';
import { ranToSchema } from '../contract/batches.ts';
import { JsonText, stringifyExact } from '../contract/json/raw-number.ts';
import { nodeStateNames } from '../contract/verdict.ts';

/** The expectation of a run; a part that is absent is not looked at. `data` is JSON text, `absent` holds paths, `actions` the ids of
 * the nodes with effects that ran, in order. */
const expectSchema = z.object({
  outcome: ranToSchema.optional(),
  data: z.string().optional(),
  absent: z.array(z.string()).optional(),
  nodes: z.record(z.string(), z.enum(nodeStateNames)).optional(),
  actions: z.array(z.string()).optional(),
  error: z.string().optional(),
  withinMs: z.number().optional(),
});
export type Expect = z.infer<typeof expectSchema>;

/** An expectation as JSON text; the data in it stays as it was written. */
export function expectText(expect: Expect | null): string | null {
  if (expect === null) return null;
  const { data, ...others } = expect;
  return stringifyExact({ ...others, ...(data !== undefined && { data: new JsonText(data) }) });
}

/** One case: an input and what is expected of it. `input` is JSON text, `ts` decimal text; `line` where its document has it. */
export const caseSchema = z.object({
  name: z.string(),
  input: z.string(),
  ts: z.string().nullable(),
  tags: z.array(z.string()),
  skip: z.boolean(),
  line: z.int().nullable(),
  /** The execution that it repeats, and is compared with. */
  of: z.string().optional(),
  expect: expectSchema.nullable(),
});
export type Case = z.infer<typeof caseSchema>;
