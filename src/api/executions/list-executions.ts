import { conclusionOf, statesOf } from '../../shared/conclusions/conclusion.ts';
import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import type { NamedNode } from '../../shared/reasoning/trace/decided-by.ts';
import { type Problem, problemAt } from '../../shared/reasons/problems.ts';
import {
  BEGINNING,
  type History,
  type HistoryFilter,
  type HistoryPage,
  type HistoryPart,
} from '../../shared/store/history/history.ts';
import { createDecidedBy } from './decided-by.ts';
import { groupFailures } from './search/group-failures.ts';
import { isAfter, openAfter, openCursor } from './search/open-cursor.ts';
import { hiddenIn, isSearch, type Search } from './search/search-conditions.ts';
import { type Found, searchExecutions } from './search/search-executions.ts';
import { shownRecord } from './shown-record.ts';

/** Longer inputs are left out of lists. */
export const MAX_LISTED_INPUT = 4 * 1024;
/** A page reads answers, to find the deciding nodes, until it has read so many characters. */
const MAX_ANSWERS_READ = 1024 * 1024;

type ListExecutionsDependencies = {
  history: History;
  privacy: Privacy;
  /** The open executions, newest first. */
  open: (filter: Omit<HistoryFilter, 'limit' | 'cursor'>) => Promise<ExecutionRecord[]>;
};

/** Lists executions, and searches them. */
export function createListExecutions({ history, privacy, open }: ListExecutionsDependencies) {
  /** Newest first; open executions come before all others. */
  async function list(filter: HistoryFilter): Promise<HistoryPage> {
    const after = openAfter(filter.cursor);
    if (after === null) return shownPage(await history.list(filter), history, privacy);
    const { limit, cursor: _, ...rest } = filter;
    const all = (await open(rest)).filter((record) => isAfter(record, after));
    const onTheirWay = all.slice(0, limit);
    const last = onTheirWay.at(-1);
    if (last && all.length > limit) return { records: onTheirWay, nextCursor: openCursor(last) };
    const left = limit - onTheirWay.length;
    if (left <= 0) return { records: onTheirWay, nextCursor: BEGINNING };
    const page = await shownPage(await history.list({ ...rest, limit: left }), history, privacy);
    const settled = new Set(page.records.map(({ mockId }) => mockId));
    return { ...page, records: [...onTheirWay.filter(({ mockId }) => !settled.has(mockId)), ...page.records] };
  }

  const all = { list, inputOf: createShownInputs(history, privacy) };
  /** Reads what is pinned, and no more than that. */
  const pinnedOnly = {
    list: async (filter: HistoryFilter) => shownPage(await history.pins.list(filter), history.pins, privacy),
    inputOf: createShownInputs(history.pins, privacy),
  };

  const sourcesOf = ({ pinned: wanted }: Pick<Search, 'pinned'>) => (wanted ? pinnedOnly : all);
  const search = (wanted: Wanted) => searchExecutions(wanted, wanted, sourcesOf(wanted));

  return {
    list,

    /** A page of a search; without conditions it is the list. */
    search: (wanted: Wanted): Promise<HistoryPage | Found> => (isSearch(wanted) ? search(wanted) : list(wanted)),

    /** The failures of a search, as far as one answer reads; its cursor continues. */
    async failures(wanted: Omit<Wanted, 'limit'>) {
      const { records, ...rest } = await search({ ...wanted, limit: Number.POSITIVE_INFINITY });
      return { items: groupFailures(records), ...rest };
    },

    /** The fault of a search for masked values, with its field; null if there is none. */
    hiddenIn({ app, where }: Pick<Wanted, 'app' | 'where'>): Problem | null {
      if (where.length > 0 && app === undefined) return problemAt('app', 'required-with', { other: 'where' });
      return hiddenIn(where, app === undefined ? null : privacy.maskFor(app));
    },

    /** The inputs of executions, null for what is not settled, not kept or longer than a list may show. */
    shortInputs: (records: readonly ExecutionRecord[], search: Pick<Search, 'pinned'>): Promise<(string | null)[]> =>
      Promise.all(
        records.map(async (record) => {
          const input = await sourcesOf(search).inputOf(record);
          return input !== null && input.length <= MAX_LISTED_INPUT ? input : null;
        }),
      ),

    decidedBy: createDecidingNodes(history, privacy),
  };
}

type Wanted = HistoryFilter & Search;

type Texts = Pick<HistoryPart, 'input' | 'result'>;

async function shownPage({ records, ...page }: HistoryPage, from: Texts, privacy: Privacy): Promise<HistoryPage> {
  return { ...page, records: await Promise.all(records.map((record) => shownRecord(record, from, privacy))) };
}

/** Inputs as they may be shown; null for what has not ended, and where none is kept. */
function createShownInputs(history: Texts, privacy: Privacy) {
  return async ({ app, mockId, ending }: ExecutionRecord): Promise<string | null> => {
    const input = ending === null || privacy.isOff(app) ? null : await history.input(mockId);
    return input === null ? null : (privacy.maskFor(app)?.data(input) ?? input);
  };
}

/** The deciding nodes; null where unknown, and beyond what a page may read. Answers are read one by one, to bound memory. */
function createDecidingNodes(history: History, privacy: Privacy) {
  return async (records: readonly ExecutionRecord[], { pinned }: Pick<Search, 'pinned'>) => {
    const { result } = pinned ? history.pins : history;
    const decidedBy = createDecidedBy(history.pins.treeOf);
    const deciding: (NamedNode | null)[] = [];
    let read = 0;
    for (const record of records) {
      const isAsked = record.outcome !== null && read < MAX_ANSWERS_READ && !privacy.isOff(record.app);
      const body = isAsked ? await result(record.mockId) : null;
      read += body?.length ?? 0;
      const nodes = body && statesOf(conclusionOf({ input: '{}', body, success: true }));
      deciding.push(nodes ? await decidedBy(record, nodes) : null);
    }
    return deciding;
  };
}
