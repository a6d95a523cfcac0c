import { z } from 'zod';
import { stateSchema, stepSchema } from '../../shared/contract/endings/states.ts';
import { decisionSchema } from '../../shared/contract/job.ts';
import { parseExact } from '../../shared/contract/json/exact-json.ts';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { exitCodeOfAnswer, exitCodes } from '../terminal/exit-codes.ts';
import { errorOf, type HttpApi } from '../terminal/http-api.ts';
import { rawMember } from '../terminal/raw-member.ts';
import { CommandFailed } from '../terminal/surroundings.ts';
import { isSearch, type SearchWords } from './search-words.ts';

const executionSchema = z.object({
  mockId: z.string(),
  app: z.number(),
  keyName: z.string().nullable(),
  address: z.string().nullable(),
  /** One of an earlier version says nothing of it. */
  lane: z.string().nullish(),
  state: stateSchema,
  decision: decisionSchema.nullable(),
  history: z.array(stepSchema),
  outcome: z.object({ code: z.string().nullable() }).nullable(),
  error: z.string().nullish(),
});
const lookedSchema = z.object({ executions: z.int(), withoutInput: z.int(), until: z.number().nullable() });
const pageSchema = z.object({
  items: z.array(executionSchema),
  nextCursor: z.string().nullable(),
  looked: lookedSchema.optional(),
});

/** An execution, and the same as the API wrote it: its ids may have more digits than a JavaScript number. */
export type Listed = { execution: z.infer<typeof executionSchema>; raw: string };
/** `looked`: of a search, how far it came. */
export type Page = { items: Listed[]; nextCursor: string | null; looked: z.infer<typeof lookedSchema> | undefined };

/** One page of GET executions. Throws `CommandFailed` with its sentence when there is none. */
export async function readExecutions(api: HttpApi, query: URLSearchParams, words: SearchWords = {}): Promise<Page> {
  const { status, text } = await api.call(`/rule-server/mock/executions?${query}`);
  if (status !== 200) throw new CommandFailed(errorOf(text), exitCodeOfAnswer(status));
  const { items, ...rest } = pageSchema.parse(parseJson(text));
  const isNewWord = words.lane !== undefined || words.comparisonId !== undefined;
  if (isSearch(words) && (rest.looked === undefined || (isNewWord && items.some(({ lane }) => lane === undefined))))
    throw new CommandFailed(
      `The API at ${api.base} is of an earlier version, which does not search by these words.`,
      exitCodes.usage,
    );
  const raws = z
    .object({ items: z.array(z.unknown()) })
    .parse(parseExact(text))
    .items.map(stringifyExact);
  return {
    ...rest,
    looked: rest.looked,
    items: items.map((execution, index) => ({ execution, raw: raws[index] ?? '{}' })),
  };
}

/** The rule that an execution ran: `app 7 rule 42`. */
export function whatRan({ execution: { app }, raw }: Listed): string {
  const [ruleId, confId] = [rawMember(raw, 'ruleId'), rawMember(raw, 'confId')];
  return [`app ${app}`, ruleId && `rule ${ruleId}`, confId && `node ${confId}`].filter(Boolean).join(' ');
}
