import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import type { ReadCases } from '../../shared/contract/saved-cases.ts';
import { readAs } from './read-answer.ts';
import { getAs, Refused, request, withQuery } from './request.ts';
import * as shapes from './shapes.ts';

const CASES = '/rule-server/mock/cases';

/** The owner of the cases: a rule or a node. */
export type CasesOf = { app: string; ruleId: string | null; confId: string | null };

type ReadCase = ReadCases['cases'][number];
/** A saved case. `input` and `expect` are JSON text, with every number as it was written. */
export type SavedCase = Omit<ReadCase, typeof DATA_FIELD | 'line'> & { input: string };
/** The cases of a rule, and the state they are in; null when none are saved. */
export type SavedCases = { etag: string | null; cases: SavedCase[] };

/** Somebody else changed the cases since they were read. */
export class Changed extends Error {}

export async function getCases(of: CasesOf, signal?: AbortSignal): Promise<SavedCases> {
  const { etag, cases } = await getAs(withQuery(CASES, of), shapes.readCases, signal);
  return { etag, cases: cases.map(({ [DATA_FIELD]: input, ...one }) => ({ ...one, input })) };
}

/**
 * Puts a case in, given as JSON text, or takes one out, when the cases are still in the state `etag`. Throws `Changed`
 * when not. Returns the ETag of the new state: null when no case is left.
 */
export async function changeCases(
  of: CasesOf,
  { etag, upsert = null, remove = null }: { etag: string | null; upsert?: string | null; remove?: string | null },
): Promise<string | null> {
  const members = [
    ...(upsert === null ? [] : [`"upsert":${upsert}`]),
    ...(remove === null ? [] : [`"remove":${JSON.stringify(remove)}`]),
  ];
  const headers: Record<string, string> = etag === null ? { 'if-none-match': '*' } : { 'if-match': etag };
  try {
    const answer = await request(withQuery(CASES, of), { method: 'POST', body: `{${members.join(',')}}`, headers });
    return answer.status === 204 ? null : readAs(shapes.savedCases, answer.text).etag;
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 412) throw error;
    throw new Changed(error.message, { cause: error });
  }
}
