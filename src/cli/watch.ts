import type { Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { styleText } from 'node:util';
import { z } from 'zod';
import { parseExact } from '../shared/contract/exact-json.ts';
import { parseJson } from '../shared/contract/parse-json.ts';
import { stringifyExact } from '../shared/contract/raw-number.ts';
import { isEndState, stateSchema, stepSchema } from '../shared/contract/states.ts';
import { visible, visibleJson } from '../shared/contract/visible-text.ts';
import { exitCodes } from './exit-codes.ts';
import { createHttpApi, errorOf, type HttpApi } from './http-api.ts';
import { rawMember } from './raw-member.ts';
import { CommandFailed, type Surroundings } from './surroundings.ts';

export type WatchOptions = { app?: string; rule?: string; url: string; key?: string; json?: boolean };

const LOOK_EVERY_MS = 1000;
/** An API that does not answer is asked again for this long. */
const GIVE_UP_MS = 30_000;
const PAGE = 100;
const MAX_PAGES = 10;
/** What was seen is remembered for as many executions: more than one look can find. */
const REMEMBERED = 4 * PAGE * MAX_PAGES;

const executionSchema = z.object({
  mockId: z.string(),
  app: z.number(),
  address: z.string().nullable(),
  state: stateSchema,
  history: z.array(stepSchema),
  outcome: z.object({ code: z.string().nullable() }).nullable(),
});
type Execution = z.infer<typeof executionSchema>;
const pageSchema = z.object({ items: z.array(executionSchema), nextCursor: z.string().nullable() });

/** Prints executions as they come and go on, like `tail -f`, until Ctrl-C. `--json`: one execution a line, as the API says it. */
export async function watch(options: WatchOptions, surroundings: Surroundings): Promise<number> {
  const { stdout, onInterrupt } = surroundings;
  const api = createHttpApi({ url: options.url, key: options.key });
  const interrupted = new AbortController();
  onInterrupt(() => interrupted.abort());
  const look = createLook(api, options);
  await look(); // what is there already is not news
  for (let answeredAt = Date.now(); !interrupted.signal.aborted; ) {
    await setTimeout(LOOK_EVERY_MS, undefined, { signal: interrupted.signal }).catch(() => {});
    const news = await look().catch((error) => {
      if (!isAway(error) || Date.now() - answeredAt > GIVE_UP_MS) throw error;
      return null;
    });
    if (news === null) continue;
    answeredAt = Date.now();
    for (const { execution, raw } of news)
      stdout.write(options.json ? `${visibleJson(raw)}\n` : line({ execution, raw }, stdout));
  }
  return exitCodes.interrupted;
}

/** An execution, and the same as the API wrote it: its ids may have more digits than a JavaScript number. */
type News = { execution: Execution; raw: string };

/**
 * Looks at the list again, and resolves to what has changed since, oldest first. The list has open executions first and
 * then the ended ones, newest first: behind an end that was seen there is nothing new.
 */
function createLook(api: HttpApi, { app, rule }: WatchOptions): () => Promise<News[]> {
  const seen = new Map<string, number>();
  let isFirst = true;

  async function readNews(): Promise<News[]> {
    const news: News[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < MAX_PAGES; page++) {
      const found: Page = await readPage(api, { app, ruleId: rule, cursor });
      for (const each of found.items) {
        const { mockId, state, history } = each.execution;
        if (seen.get(mockId) !== history.length) news.push(each);
        else if (isEndState(state)) return news;
      }
      cursor = found.nextCursor;
      if (cursor === null || isFirst) break;
    }
    return news;
  }

  return async () => {
    const news = (await readNews()).reverse();
    isFirst = false;
    for (const { execution } of news) {
      seen.delete(execution.mockId); // the newest are last
      seen.set(execution.mockId, execution.history.length);
    }
    for (const mockId of [...seen.keys()].slice(0, Math.max(0, seen.size - REMEMBERED))) seen.delete(mockId);
    return news;
  };
}

type Asked = { app: string | undefined; ruleId: string | undefined; cursor: string | null };
type Page = { items: News[]; nextCursor: string | null };

async function readPage(api: HttpApi, asked: Asked): Promise<Page> {
  const query = new URLSearchParams({ limit: String(PAGE) });
  for (const [name, value] of Object.entries(asked)) if (value) query.set(name, value);
  const { status, text } = await api.call(`/rule-server/mock/executions?${query}`);
  if (status !== 200) throw new CommandFailed(errorOf(text), status >= 500 ? exitCodes.unreachable : exitCodes.usage);
  const { items, nextCursor } = pageSchema.parse(parseJson(text));
  const raws = z
    .object({ items: z.array(z.unknown()) })
    .parse(parseExact(text))
    .items.map(stringifyExact);
  return { items: items.map((execution, index) => ({ execution, raw: raws[index] ?? '{}' })), nextCursor };
}

function isAway(error: unknown): boolean {
  return error instanceof CommandFailed && error.exitCode === exitCodes.unreachable;
}

/** When, which execution, of what, how far it is, and where. */
function line({ execution, raw }: News, stream: Writable): string {
  const { mockId, app, address, state, history, outcome } = execution;
  const [ruleId, confId] = [rawMember(raw, 'ruleId'), rawMember(raw, 'confId')];
  const [first, last] = [history[0], history.at(-1)];
  const at = new Date(last?.at ?? 0).toISOString().slice(11, 23);
  const what = [`app ${app}`, ruleId && `rule ${ruleId}`, confId && `node ${confId}`].filter(Boolean).join(' ');
  const took = isEndState(state) && first && last ? `${((last.at - first.at) / 1000).toFixed(2)} s` : '';
  const color = isEndState(state) ? (state === 'succeeded' ? 'green' : 'red') : 'cyan';
  const shown = styleText(color, state.padEnd(10), { stream });
  const more = [what, visible(address ?? ''), took, outcome?.code].filter(Boolean).join('  ');
  return `${at}  ${mockId}  ${shown}  ${more}\n`;
}
