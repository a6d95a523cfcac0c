import { nameOf, type Occurrence } from '../../../shared/reasoning/tree.ts';
import type { Batch } from '../../api/batches.ts';
import { type Answer, type answersOf, type decidingNodes, orders, type RowFilter } from '../../cases/case-rows.ts';
import { goTo, type Place } from '../../state/location.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { verdictLooks } from '../../ui/outcome-chip.tsx';
import { PlaceLink } from '../../ui/place-link.tsx';

type Filtering = { filter: RowFilter; onFilter: (filter: RowFilter) => void };
type AnswerProps = Filtering & {
  place: Place;
  batch: Batch | null;
  answers: ReturnType<typeof answersOf>;
  occurrences: readonly Occurrence[];
};

/** The answer of a batch: how many runs came to what, with their share; pressed, only those are shown. */
export function Answers({ place, batch, answers, occurrences, filter, onFilter }: AnswerProps) {
  const { say } = useText();
  const all = answers.reduce((sum, { runs }) => sum + runs, 0);
  const chosen = answers.find(({ id }) => id === filter.answer)?.pair ?? null;
  if (all === 0) return null;
  return (
    <div className="answers" role="group" aria-label={say('cases.answers')}>
      {answers.map(({ runs, ...answer }) => (
        <button
          type="button"
          key={answer.id}
          className="answer"
          aria-pressed={filter.answer === answer.id}
          title={answer.what.join('\n') || undefined}
          onClick={() => onFilter({ ...filter, answer: filter.answer === answer.id ? null : answer.id })}
        >
          <span className={`chip ${looksOf(answer)}`}>{answerWords(answer, { say, occurrences })}</span> <b>{runs}</b>{' '}
          <small>{share(runs, all)}</small>
        </button>
      ))}
      {chosen !== null && (
        <PlaceLink className="button" to={{ run: null, runs: [...chosen] }}>
          {say('cases.compareOne')}
        </PlaceLink>
      )}
      {batch && (
        <label className="switch">
          <input type="checkbox" checked={place.nodes} onChange={({ target }) => goTo({ nodes: target.checked })} />
          {say('coverage.button')}
        </label>
      )}
    </div>
  );
}

const looksOf = ({ verdict, now }: Answer) => {
  if (now !== null) return now === 'TRUE' ? 'true' : 'none';
  return verdict === 'not-run' ? 'none' : verdictLooks[verdict];
};

type Words = { say: Say; occurrences: readonly Occurrence[] };

function answerWords({ verdict, now, what, at }: Answer, { say, occurrences }: Words): string {
  if (now !== null) return say(`outcome.${now}`);
  if (verdict === 'not-run') return say('verdict.notRun');
  // A trace has the class of a node; the tree knows what it is called.
  const known = occurrences.find(({ node }) => node.id === at?.id);
  const where = at === null ? '' : say('cases.changeAt', { name: known ? nameOf(known.node) : at.name, id: at.id });
  return verdict === 'changed' ? [changeInShort(what), where].filter(Boolean).join(' ') : say(`verdict.${verdict}`);
}

/** Of another outcome all other changes are consequences: it stands alone. */
function changeInShort(what: readonly string[]): string {
  const outcome = what.find((line) => line.startsWith(OUTCOME));
  if (outcome !== undefined) return outcome.slice(OUTCOME.length);
  return what.length > MAX_CHANGES ? `${what.slice(0, MAX_CHANGES).join(', ')} …` : what.join(', ');
}

const OUTCOME = 'outcome ';
const MAX_CHANGES = 2;

const share = (n: number, all: number) =>
  `${n === all ? 100 : Math.max(n * 1000 < all ? 0.1 : 1, Math.min(99, Math.round((n * 100) / all)))} %`;

type Props = Filtering & {
  found: number;
  all: number;
  lanes: boolean;
  nodes: ReturnType<typeof decidingNodes>;
};

/** Which rows are shown beside the chosen answer, and in which order. */
export function ResultFilters({ filter, onFilter, found, all, lanes, nodes }: Props) {
  const { say } = useText();
  return (
    <div className="results-tools" role="search" aria-label={say('cases.filter')}>
      <input
        type="search"
        aria-label={say('cases.filter.text')}
        placeholder={say('cases.filter.text')}
        value={filter.text}
        onChange={({ target }) => onFilter({ ...filter, text: target.value })}
      />
      {nodes.length > 0 && (
        <select
          aria-label={say('cases.filter.decidedBy')}
          value={filter.decidedBy ?? ''}
          onChange={({ target }) => onFilter({ ...filter, decidedBy: target.value || null })}
        >
          <option value="">{say('cases.filter.anyNode')}</option>
          {nodes.map(({ id, name, runs }) => (
            <option key={id} value={id}>
              {say('cases.filter.nodeRuns', { id, name, n: runs })}
            </option>
          ))}
        </select>
      )}
      <select
        aria-label={say('cases.order')}
        value={filter.order}
        onChange={({ target }) =>
          onFilter({ ...filter, order: orders.find((name) => name === target.value) ?? 'failing' })
        }
      >
        {orders.map((name) => (
          <option key={name} value={name}>
            {say(`cases.order.${name}`)}
          </option>
        ))}
      </select>
      {lanes && (
        <label className="switch">
          <input
            type="checkbox"
            checked={filter.differs}
            onChange={({ target }) => onFilter({ ...filter, differs: target.checked })}
          />
          {say('cases.filter.differs')}
        </label>
      )}
      <span className="muted" role="status">
        {found === all ? say('cases.count', { n: all }) : say('cases.found', { found, n: all })}
      </span>
    </div>
  );
}
