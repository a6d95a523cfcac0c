import { useEffect, useState } from 'react';
import type { SchemaField } from '../../api/browse.ts';
import { type ExecutionRecord, everyRun, isEnd, type Listed } from '../../api/executions.ts';
import { foundSoFar, unreadKeys } from '../../run/history/found-words.ts';
import { type HistoryFilter, outcomeFilters, printFilter, readFilter } from '../../run/history/history-filter.ts';
import { useHistory, useSearch } from '../../run/queries/use-history.ts';
import { useKept, useSteady } from '../../run/queries/use-service.ts';
import { goTo, type Place, useArrivals } from '../../state/location.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { FileButton } from '../../ui/file-button.tsx';
import { useOpenFile } from '../result/run-file.tsx';
import { HistoryFilters } from './history-filters.tsx';
import { FailureGroups, HistoryTable, onArrowKeys } from './history-table.tsx';

/** A search goes on by itself until it has found so many, or has been through all. */
const ENOUGH_FOUND = 20;
/** The address changes once typing has paused. */
const TYPED_MS = 300;

type Props = {
  place: Place;
  /** The keys that the rule reads, as far as they are known. */
  fields: readonly SchemaField[];
  onOpen: (record: ExecutionRecord) => void;
  onAgain: (record: ExecutionRecord) => void;
};

/** Earlier runs: to be found, looked at, run again, compared. */
export function HistoryPanel({ place, fields, onOpen, onAgain }: Props) {
  const { say, failed } = useText();
  const openFile = useOpenFile(onOpen);
  const [filter, setFilter] = useFilter(place);
  const { everyRule } = filter;
  const search = useSearch(filter);
  const history = useHistory({ app: place.app, ruleId: everyRule ? null : place.ruleId, search });
  const { error } = useSteady(history.query);
  const [selected, setSelected] = useState<readonly string[]>([]);
  const runs = history.items.filter(({ confId }) => everyRule || confId === place.confId);
  const filtering = search !== null;
  const grouped = filter.outcome === 'failures';

  const { hasMore, isPending, isAsking, hasFailed, more, searched } = history;
  const goesOn = filtering && !grouped && hasMore && !isAsking && !hasFailed && runs.length < ENOUGH_FOUND;
  useEffect(() => {
    if (goesOn) void more();
  }, [goesOn, more]);
  const keptWords = useKeptWords();
  const isSearching = goesOn || isAsking || isPending;
  const soFar = foundSoFar({ runs, search: search ?? everyRun, searched, isSearching, hasMore });
  const scope = scopeWords(place, everyRule, say);
  const unread = everyRule ? [] : unreadKeys(search ?? everyRun, fields);

  const select = (mockId: string, on: boolean) =>
    setSelected((now) => (on ? [...now, mockId] : now.filter((other) => other !== mockId)));
  const chosen = runs.flatMap(({ mockId }) => (selected.includes(mockId) ? [mockId] : []));
  return (
    <section className="history fill" aria-label={say('nav.history')}>
      <div className="history-head wrap">
        <HistoryFilters filter={filter} onFilter={setFilter} />
        <span className="muted" role="status">
          {error && runs.length === 0
            ? '' // what is wrong stands in the place of the runs
            : filtering && !grouped
              ? foundWords(soFar, { scope, withoutInput: searched.withoutInput, say })
              : chosen.length === 1
                ? say('history.compare.hint')
                : keptWords}
        </span>
        <FileButton label={say('runFile.open')} accept=".json,application/json" onFile={openFile} />
        <Button
          label={say('history.compare')}
          disabled={chosen.length < 2}
          onPress={() => goTo({ panel: null, runs: [...chosen].reverse(), run: null, input: null }, { push: true })}
        />
      </div>
      <OutcomeCounts runs={runs} hasMore={hasMore} filter={filter} onFilter={setFilter} />
      {grouped ? (
        <FailureGroups app={place.app} ruleId={everyRule ? null : place.ruleId} search={search} />
      ) : (
        <>
          {error && runs.length === 0 && (
            <p className="empty-line">{say('history.failed', { error: failed(error) })}</p>
          )}
          {!error && runs.length === 0 && (
            <div className="empty-line" role="status">
              <p>
                {filtering || isPending ? foundWords(soFar, { scope, withoutInput: 0, say }) : say('history.empty')}
              </p>
              {filtering && unread.length > 0 && (
                <p>
                  {say('history.unread', { keys: unread.join(', '), known: fields.map(({ key }) => key).join(', ') })}
                </p>
              )}
              {filtering && (soFar.kind === 'none' || soFar.kind === 'empty') && !everyRule && (
                <Button
                  label={say('history.searchEveryRule')}
                  className="quiet"
                  onPress={() => setFilter({ ...filter, everyRule: true })}
                />
              )}
            </div>
          )}
          {runs.length > 0 && (
            <HistoryTable {...{ place, runs, everyRule, onOpen, onAgain }} selected={chosen} onSelect={select} />
          )}
          {hasMore && (
            <Button
              label={say('history.more')}
              className="quiet older"
              disabled={isAsking}
              onPress={() => void more()}
            />
          )}
        </>
      )}
    </section>
  );
}

/** The filter, which the address has as well: a reload and a link keep it. */
function useFilter({ find }: Place): [HistoryFilter, (filter: HistoryFilter) => void] {
  const [filter, setFilter] = useState<HistoryFilter>(() => readFilter(find));
  const arrivals = useArrivals();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is typed here goes into the address; only an arrival brings it back
  useEffect(() => setFilter(readFilter(find)), [arrivals]);
  useEffect(() => {
    const timer = setTimeout(() => goTo({ find: printFilter(filter) }), TYPED_MS);
    return () => clearTimeout(timer);
  }, [filter]);
  return [filter, setFilter];
}

/** How many runs are kept, and since when. */
function useKeptWords(): string {
  const { say, time } = useText();
  const { data } = useKept();
  if (!data || data.executions === null || data.oldest === null) return say('history.compare.hint');
  return say('history.kept', { n: data.executions, time: time(data.oldest) });
}

/** Whose runs are listed, in the middle of a sentence. */
function scopeWords({ app, ruleId, confId }: Place, everyRule: boolean, say: Say): string {
  if (everyRule) return say('history.of.app', { app: app ?? '' });
  if (confId === null) return say('history.of.rule', { rule: ruleId ?? '' });
  return ruleId === null
    ? say('history.of.node', { node: confId })
    : say('history.of.inRule', { node: confId, rule: ruleId });
}

type About = { scope: string; withoutInput: number; say: Say };

function foundWords(soFar: ReturnType<typeof foundSoFar>, { scope, withoutInput, say }: About): string {
  if (soFar.kind === 'searching') return say('history.searching');
  const asText = 'asText' in soFar && soFar.asText ? say('history.asText', soFar.asText) : '';
  const notSearchable = withoutInput === 0 ? '' : say('history.notSearchable', { n: withoutInput });
  const { kind, n } = soFar;
  const words = say(`history.found.${kind}`, { found: 'found' in soFar ? soFar.found : 0, n, scope });
  return [words, asText, notSearchable].filter((part) => part !== '').join(' ');
}

type CountsProps = {
  runs: readonly Listed[];
  hasMore: boolean;
  filter: HistoryFilter;
  onFilter: (filter: HistoryFilter) => void;
};

/** What the listed runs came to, each result with its number; pressed, only those are searched for. */
function OutcomeCounts({ runs, hasMore, filter, onFilter }: CountsProps) {
  const { say } = useText();
  const isAll = filter.outcome === 'any';
  return (
    <div className="answers wrap" role="toolbar" aria-label={say('nav.result')} onKeyDown={onArrowKeys}>
      {outcomeFilters.map((outcome) => {
        const isChosen = filter.outcome === outcome;
        const n = isAll || isChosen ? runs.filter((run) => isOf(run, outcome)).length : null;
        if (n === 0 && !isChosen && outcome !== 'failures') return null;
        return (
          <Button
            key={outcome}
            className="answer"
            aria-pressed={isChosen}
            tabIndex={isChosen ? 0 : -1}
            title={say('history.ofListed')}
            onPress={() => onFilter({ ...filter, outcome: isChosen ? 'any' : outcome })}
          >
            {say(`history.outcome.${outcome}`)} {n !== null && outcome !== 'failures' && <b>{n}</b>}
          </Button>
        );
      })}
      {hasMore && filter.outcome !== 'failures' && <small>{say('history.ofListed')}</small>}
    </div>
  );
}

/** As the service's search has it. */
function isOf({ state, outcome }: Listed, wanted: HistoryFilter['outcome']): boolean {
  if (wanted === 'any') return true;
  return wanted === 'no-result' ? isEnd(state) && outcome === null : outcome === wanted;
}
