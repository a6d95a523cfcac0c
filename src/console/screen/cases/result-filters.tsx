import { verdicts } from '../../api/batches.ts';
import { type decidingNodes, orders, type outcomeCounts, type RowFilter } from '../../cases/case-rows.ts';
import { useText } from '../../text/use-text.tsx';

type Props = {
  filter: RowFilter;
  onFilter: (filter: RowFilter) => void;
  found: number;
  all: number;
  lanes: boolean;
  outcomes: ReturnType<typeof outcomeCounts>;
  nodes: ReturnType<typeof decidingNodes>;
};

const filtered = ['any', ...verdicts, 'not-run'] as const;

/** Which cases are shown, and in which order. */
export function ResultFilters({ filter, onFilter, found, all, lanes, outcomes, nodes }: Props) {
  const { say } = useText();
  return (
    <div className="result-filters" role="search" aria-label={say('cases.filter')}>
      <input
        type="search"
        aria-label={say('cases.filter.text')}
        placeholder={say('cases.filter.text')}
        value={filter.text}
        onChange={({ target }) => onFilter({ ...filter, text: target.value })}
      />
      <select
        aria-label={say('cases.filter.verdict')}
        value={filter.verdict}
        onChange={({ target }) =>
          onFilter({ ...filter, verdict: filtered.find((name) => name === target.value) ?? 'any' })
        }
      >
        {filtered.map((name) => (
          <option key={name} value={name}>
            {name === 'any' || name === 'not-run' ? say(`cases.filter.${name}`) : say(`verdict.${name}`)}
          </option>
        ))}
      </select>
      <select
        aria-label={say('cases.filter.outcome')}
        value={filter.outcome}
        onChange={({ target }) => {
          const chosen = outcomes.find(({ outcome }) => outcome === target.value);
          onFilter({ ...filter, outcome: chosen?.outcome ?? 'any' });
        }}
      >
        <option value="any">{say('cases.filter.anyOutcome')}</option>
        {outcomes.map(({ outcome, runs }) => (
          <option key={outcome} value={outcome}>
            {say('cases.filter.outcomeRuns', { outcome: say(`outcome.${outcome}`), n: runs })}
          </option>
        ))}
      </select>
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
