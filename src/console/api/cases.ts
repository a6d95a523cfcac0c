import { idOf, itemsOf, memberOf, textOf } from '../../shared/json-tree/members.ts';
import { type Json, readJson } from '../../shared/json-tree/read-json.ts';
import { Refused, request, withQuery } from './request.ts';

const CASES = '/rule-server/mock/cases';

/** The owner of the cases: a rule or a node. */
export type CasesOf = { app: string; ruleId: string | null; confId: string | null };

/** A saved case. `input` and `expect` are JSON text, with every number as it was written. */
export type SavedCase = {
  name: string;
  input: string;
  ts: string | null;
  tags: string[];
  skip: boolean;
  expect: string | null;
};
/** The cases of a rule, and the state they are in; null when none are saved. */
export type SavedCases = { etag: string | null; cases: SavedCase[] };

/** Somebody else changed the cases since they were read. */
export class Changed extends Error {}

export async function getCases(of: CasesOf, signal?: AbortSignal): Promise<SavedCases> {
  const answer = await request(withQuery(CASES, of), signal ? { signal } : {});
  return readCases(answer.text);
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
    return answer.status === 204 ? null : readCases(answer.text).etag;
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 412) throw error;
    throw new Changed(error.message, { cause: error });
  }
}

function readCases(body: string): SavedCases {
  const read = readJson(body);
  const root = read.kind === 'ok' ? read.root : undefined;
  return {
    etag: textOf(memberOf(root, 'etag')),
    cases: itemsOf(memberOf(root, 'cases')).map((one) => readCase(one, body)),
  };
}

function readCase(one: Json, body: string): SavedCase {
  const raw = (name: string) => {
    const found = memberOf(one, name);
    return found === undefined || found.kind === 'null' ? null : body.slice(found.start, found.end);
  };
  const skip = memberOf(one, 'skip');
  return {
    name: textOf(memberOf(one, 'name')) ?? '',
    input: raw('the service') ?? '{}',
    ts: idOf(memberOf(one, 'ts')),
    tags: itemsOf(memberOf(one, 'tags')).flatMap((tag) => textOf(tag) ?? []),
    skip: skip?.kind === 'boolean' && skip.value,
    expect: raw('expect'),
  };
}
