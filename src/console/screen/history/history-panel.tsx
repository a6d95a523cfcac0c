import { useEffect, useMemo, useState } from 'react';
import type { SchemaField } from '../../api/browse.ts';
import type { ExecutionRecord } from '../../api/executions.ts';
import { foundSoFar, unreadKeys } from '../../run/history/found-words.ts';
import { groupComparisons } from '../../run/history/group-comparisons.ts';
import { everyRun, type HistoryFilter, printFilter, readFilter } from '../../run/history/history-filter.ts';
import { useHistory } from '../../run/queries/use-history.ts';
import { useSearch } from '../../run/queries/use-search.ts';
import { useKept } from '../../run/queries/use-service.ts';
import { useSteady } from '../../run/queries/use-steady.ts';
import { goTo, type Place, useArrivals } from '../../state/location.ts';
import { useForeignZone } from '../../state/preferences.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { ComparisonRow } from './comparison-row.tsx';
import { FailureGroups } from './failure-groups.tsx';
import { HistoryFilters } from './history-filters.tsx';
import { HistoryRow } from './history-row.tsx';

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
  const { say, ofService } = useText();
  const [filter, setFilter] = useFilter(place);
  const { everyRule } = filter;
  const search = useSearch(filter);
  const history = useHistory({ app: place.app, ruleId: everyRule ? null : place.ruleId, search });
  const { error } = useSteady(history.query);
  const [selected, setSelected] = useState<readonly string[]>([]);
  const runs = history.items.filter(({ confId }) => everyRule || confId === place.confId);
  const lines = groupComparisons(runs);
  const inputs = useMemo(() => new Map(runs.map(({ mockId, input }) => [mockId, input])), [runs]);
  const filtering = search !== null;
  const grouped = filter.outcome === 'failures';

  const { hasMore, isAsking, hasFailed, more, looked } = history;
  const goesOn = filtering && !grouped && hasMore && !isAsking && !hasFailed && runs.length < ENOUGH_FOUND;
  useEffect(() => {
    if (goesOn) void more();
  }, [goesOn, more]);
  const keptWords = useKeptWords();
  const isSearching = goesOn || isAsking || history.query.isPending;
  const soFar = foundSoFar({ runs, search: search ?? everyRun, looked, isSearching, hasMore });
  const scope = scopeWords(place, everyRule, say);
  const unread = everyRule ? [] : unreadKeys(search ?? everyRun, fields);

  const select = (mockId: string, on: boolean) =>
    setSelected((now) => (on ? [...now, mockId] : now.filter((other) => other !== mockId)));
  const chosen = selected.filter((mockId) => runs.some((item) => item.mockId === mockId));
  return (
    <section className="history" aria-label={say('history.label')}>
      <div className="history-head">
        <HistoryFilters filter={filter} onFilter={setFilter} />
        <span className="muted" role="status">
          {error && runs.length === 0
            ? '' // what is wrong stands in the place of the runs
            : filtering && !grouped
              ? foundWords(soFar, { scope, withoutInput: looked.withoutInput, say })
              : chosen.length === 1
                ? say('history.compare.hint')
                : keptWords}
        </span>
        <button
          type="button"
          className="button small"
          disabled={chosen.length < 2}
          onClick={() => goTo({ panel: null, runs: [...chosen].reverse(), run: null, input: null }, { push: true })}
        >
          {say('history.compare')}
        </button>
      </div>
      {grouped ? (
        <FailureGroups app={place.app} ruleId={everyRule ? null : place.ruleId} search={search} />
      ) : (
        <>
          {error && runs.length === 0 && (
            <p className="empty-line">{say('history.failed', { error: ofService(error.message) })}</p>
          )}
          {!error && lines.length === 0 && (
            <div className="empty-line" role="status">
              <p>{filtering ? foundWords(soFar, { scope, withoutInput: 0, say }) : say('history.empty')}</p>
              {filtering && unread.length > 0 && (
                <p>
                  {say('history.unread', { keys: unread.join(', '), known: fields.map(({ key }) => key).join(', ') })}
                </p>
              )}
              {filtering && (soFar.kind === 'none' || soFar.kind === 'empty') && !everyRule && (
                <button type="button" className="quiet" onClick={() => setFilter({ ...filter, everyRule: true })}>
                  {say('history.searchEveryRule')}
                </button>
              )}
            </div>
          )}
          {lines.length > 0 && (
            <div className="history-list">
              <table>
                <HistoryHead everyRule={everyRule} />
                <tbody>
                  {lines.map((line) =>
                    line.kind === 'comparison' ? (
                      <ComparisonRow key={line.runs[0]?.mockId} runs={line.runs} everyRule={everyRule} />
                    ) : (
                      <HistoryRow
                        key={line.run.mockId}
                        record={line.run}
                        before={inputs.get(line.run.derivedFrom ?? '') ?? null}
                        everyRule={everyRule}
                        current={place.run === line.run.mockId || place.runs.includes(line.run.mockId)}
                        selected={chosen.includes(line.run.mockId)}
                        onSelect={(on) => select(line.run.mockId, on)}
                        onOpen={() => onOpen(line.run)}
                        onAgain={() => onAgain(line.run)}
                      />
                    ),
                  )}
                </tbody>
              </table>
            </div>
          )}
          {hasMore && (
            <button type="button" className="quiet older" disabled={isAsking} onClick={() => void more()}>
              {say('history.more')}
            </button>
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

function HistoryHead({ everyRule }: { everyRule: boolean }) {
  const { say } = useText();
  const foreign = useForeignZone();
  return (
    <thead>
      <tr>
        <td className="select" />
        <th scope="col" className="time">
          {say('history.time')} {foreign !== null && <small>{foreign}</small>}
        </th>
        <th scope="col" className="came-to">
          {say('history.result')}
        </th>
        {everyRule && (
          <th scope="col" className="rule">
            {say('history.rule')}
          </th>
        )}
        <th scope="col" className="given">
          {say('history.input')}
        </th>
        <th scope="col">{say('history.target')}</th>
        <th scope="col" className="number">
          {say('history.took')}
        </th>
        <td className="row-actions" />
      </tr>
    </thead>
  );
}
