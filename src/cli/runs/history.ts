import { setTimeout } from 'node:timers/promises';
import { isEndState } from '../../shared/contract/endings/states.ts';
import { type ListedExecution, listedExecutionSchema, type SearchProgress } from '../../shared/contract/execution.ts';
import { visible, visibleJson } from '../../shared/contract/json/visible-text.ts';
import { printAs } from '../../shared/contract/wire.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi, type HttpApi } from '../terminal/http-api.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { type Page, readExecutions, whatRan } from './read-executions.ts';
import { queryOf, type SearchWords, timeOf } from './search-words.ts';

export type HistoryOptions = SearchWords & {
  from?: string;
  to?: string;
  limit: string;
  url: string;
  key?: string;
  json?: boolean;
};

const MAX_LIMIT = 10_000;
const PAGE = 100;
const MAX_INPUT = 160;

/** Prints earlier executions, the newest first: as many as wanted, or all that a search finds. */
export async function history(options: HistoryOptions, surroundings: Surroundings): Promise<number> {
  const { stdout, stderr, readerLeft, onInterrupt } = surroundings;
  const limit = limitOf(options);
  const interrupted = new AbortController();
  onInterrupt(() => interrupted.abort());
  const api = createHttpApi({ url: options.url, key: options.key });
  let searched: SearchProgress | null = null;
  let found = 0;
  for await (const { items, searched: progress } of pagesOf(api, options, limit, interrupted.signal)) {
    for (const each of items) stdout.write(options.json ? `${jsonLine(each)}\n` : lineOf(each));
    found += items.length;
    if (progress) searched = together(searched, progress);
    if (readerLeft?.aborted) return exitCodes.ok;
  }
  if (searched !== null) stderr.write(searchedWords(found, searched));
  return interrupted.signal.aborted ? exitCodes.interrupted : exitCodes.ok;
}

/** How many executions are wanted. Throws `CommandFailed` for what is no such number. */
export function limitOf(options: Pick<HistoryOptions, 'limit'>): number {
  const limit = /^\d{1,9}$/.test(options.limit) ? Number(options.limit) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new CommandFailed(`--limit must be a whole number from 1 to ${MAX_LIMIT}.`, exitCodes.usage);
}

/** The pages of a search, newest first, until `limit` runs were found. */
export async function* pagesOf(
  api: HttpApi,
  options: HistoryOptions,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<Page> {
  const query = queryOf(options);
  query.set('include', 'input');
  const now = Date.now();
  for (const name of ['from', 'to'] as const) if (options[name]) query.set(name, timeOf(options[name], now));
  for (let left = limit; left > 0 && !signal.aborted; ) {
    query.set('limit', String(Math.min(left, PAGE)));
    const page = await readExecutions(api, query);
    yield { ...page, items: page.items.slice(0, left) };
    left -= page.items.length;
    if (page.nextCursor === null) return;
    query.set('cursor', page.nextCursor);
    await setTimeout(0);
  }
}

/** An execution as the API wrote it, in one line: what a caller wrote may have line ends between its values. */
export const jsonLine = (listed: ListedExecution) =>
  visibleJson(printAs(listedExecutionSchema, listed)).replace(/[\r\n]+/g, ' ');

/** Time, id, outcome, rule, duration, client, caller and input. */
function lineOf(listed: ListedExecution): string {
  const { mockId, keyName, address, state, outcome, history, ending } = listed;
  const [first, last] = [history[0], history.at(-1)];
  const took = isEndState(state) && first && last ? `${((last.at - first.at) / 1000).toFixed(2)} s` : '';
  const result = ending?.code ?? (state === 'succeeded' ? (outcome ?? state) : state);
  const input = listed.input ?? '';
  const shown = input.length > MAX_INPUT ? `${input.slice(0, MAX_INPUT)}…` : input;
  const by = keyName === null ? '' : `by ${visible(keyName)}`;
  const rest = [whatRan(listed), took, visible(address ?? ''), by, visible(shown)].filter(Boolean).join('  ');
  return `${new Date(first?.at ?? 0).toISOString()}  ${mockId}  ${result.padEnd(9)}  ${rest}\n`;
}

function together(before: SearchProgress | null, { executions, withoutInput, until }: SearchProgress): SearchProgress {
  if (before === null) return { executions, withoutInput, until };
  return {
    executions: before.executions + executions,
    withoutInput: before.withoutInput + withoutInput,
    until: until ?? before.until,
  };
}

function searchedWords(found: number, { executions, withoutInput, until }: SearchProgress): string {
  const back = until === null ? '' : `, back to ${new Date(until).toISOString()}`;
  const without = withoutInput > 0 ? `; ${withoutInput} of them have no input that can be searched` : '';
  return `${found} found in ${executions} executions${back}${without}.\n`;
}
