import type { Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { styleText } from 'node:util';
import { failureGroupOf } from '../../shared/contract/endings/failure-group.ts';
import { isEndState } from '../../shared/contract/endings/states.ts';
import type { ListedExecution } from '../../shared/contract/execution.ts';
import { visible } from '../../shared/contract/json/visible-text.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi, type HttpApi } from '../terminal/http-api.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { jsonLine } from './history.ts';
import { type Page, readExecutions, whatRan } from './read-executions.ts';
import { isSearch, queryOf, type SearchWords } from './search-words.ts';

type WatchOptions = SearchWords & { url: string; key?: string; json?: boolean; failures?: boolean };

const CHECK_EVERY_MS = 1000;
const GIVE_UP_MS = 30_000;
const PAGE = 100;
const MAX_PAGES = 10;
/** More than one poll can return. */
const REMEMBERED = 4 * PAGE * MAX_PAGES;

/** Executions that began earlier have ended. */
const NEWS_OF_MS = 600_000;

/**
 * Prints executions as they come and go on, like `tail -f`, until Ctrl-C. `--json`: one execution a line, as the API says it.
 * `--failures`: only those that failed, counted where they are alike.
 */
export async function watch(options: WatchOptions, surroundings: Surroundings): Promise<number> {
  const { stdout, readerLeft, onInterrupt } = surroundings;
  const api = createHttpApi({ url: options.url, key: options.key });
  const interrupted = new AbortController();
  onInterrupt(() => interrupted.abort());
  readerLeft?.addEventListener('abort', () => interrupted.abort());
  const poll = createProbe(api, options);
  const countFailures = createFailureCounts();
  await poll(); // what is there already is not news
  for (let answeredAt = Date.now(); !interrupted.signal.aborted; ) {
    await setTimeout(CHECK_EVERY_MS, undefined, { signal: interrupted.signal }).catch(() => {});
    const news = await poll().catch((error) => {
      if (!isAway(error) || Date.now() - answeredAt > GIVE_UP_MS) throw error;
      return null;
    });
    if (news === null) continue;
    answeredAt = Date.now();
    const lines = options.failures
      ? countFailures(news)
      : news.map((listed) => (options.json ? `${jsonLine(listed)}\n` : line(listed, stdout)));
    for (const each of lines) stdout.write(each);
  }
  return readerLeft?.aborted ? exitCodes.ok : exitCodes.interrupted;
}

/**
 * Polls the list and resolves to the changes, oldest first. The list has open executions first, then ended ones, newest first, so
 * everything behind a known ending is known.
 */
function createProbe(api: HttpApi, words: SearchWords): () => Promise<ListedExecution[]> {
  const seen = new Map<string, number>();
  let isFirst = true;

  async function readNews(): Promise<ListedExecution[]> {
    const news: ListedExecution[] = [];
    const query = queryOf(words);
    query.set('limit', String(PAGE));
    if (isSearch(words)) query.set('from', String(Date.now() - NEWS_OF_MS));
    for (let page = 0; page < MAX_PAGES; page++) {
      const found: Page = await readExecutions(api, query);
      for (const each of found.items) {
        const { mockId, state, history } = each;
        if (seen.get(mockId) !== history.length) news.push(each);
        else if (isEndState(state)) return news;
      }
      if (found.nextCursor === null || isFirst) break;
      query.set('cursor', found.nextCursor);
    }
    return news;
  }

  return async () => {
    const news = (await readNews()).reverse();
    isFirst = false;
    for (const { mockId, history } of news) {
      seen.delete(mockId); // the newest are last
      seen.set(mockId, history.length);
    }
    for (const mockId of [...seen.keys()].slice(0, Math.max(0, seen.size - REMEMBERED))) seen.delete(mockId);
    return news;
  };
}

function isAway(error: unknown): boolean {
  return error instanceof CommandFailed && error.exitCode === exitCodes.unreachable;
}

/** When, which execution, of what, how far it is, and where. */
function line(listed: ListedExecution, stream: Writable): string {
  const { mockId, address, state, history, ending } = listed;
  const [first, last] = [history[0], history.at(-1)];
  const at = new Date(last?.at ?? 0).toISOString().slice(11, 23);
  const took = isEndState(state) && first && last ? `${((last.at - first.at) / 1000).toFixed(2)} s` : '';
  const color = isEndState(state) ? (state === 'succeeded' ? 'green' : 'red') : 'cyan';
  const shown = styleText(color, state.padEnd(10), { stream });
  const more = [whatRan(listed), visible(address ?? ''), took, ending?.code].filter(Boolean).join('  ');
  return `${at}  ${mockId}  ${shown}  ${more}\n`;
}

const clock = (at: number) => new Date(at).toISOString().slice(11, 19);

/** The clients of a group: the first one by name, and how many others. */
function whose(clients: ReadonlySet<string>): string {
  const [first] = clients;
  if (first === undefined) return '';
  return clients.size === 1 ? `${visible(first)}: ` : `${visible(first)} and ${clients.size - 1} more: `;
}

/** Counts failures by group. The returned function takes new executions and returns one line for each group that grew. */
function createFailureCounts(): (news: readonly ListedExecution[]) => string[] {
  const groups = new Map<string, { count: number; since: number; clients: Set<string>; line: string }>();

  function add(execution: ListedExecution): string | null {
    const group = failureGroupOf(execution);
    if (group === null) return null;
    const key = JSON.stringify(group);
    const at = execution.history.at(-1)?.at ?? 0;
    const { count, since, clients } = groups.get(key) ?? { count: 0, since: at, clients: new Set<string>() };
    if (execution.address !== null) clients.add(execution.address);
    const times = count === 0 ? 'once' : `${count + 1} times since ${clock(since)}`;
    const line = `${clock(at)}  ${group.code.padEnd(14)}  ${whose(clients)}${visible(group.sentence)}  ${times}  ${execution.mockId}\n`;
    groups.set(key, { count: count + 1, since, clients, line });
    return key;
  }

  return (news) => {
    const grown = new Set(news.map(add).filter((key) => key !== null));
    return [...grown].map((key) => groups.get(key)?.line ?? '');
  };
}
