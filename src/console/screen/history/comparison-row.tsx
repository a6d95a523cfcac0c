import type { Listed } from '../../api/executions.ts';
import { inputInShort } from '../../run/history/history-filter.ts';
import { goTo } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import { RunResult } from '../result/run-result.tsx';

const MAX_INPUT = 90;

/** The runs of one comparison as one row, which opens the comparison. */
export function ComparisonRow({ runs, everyRule }: { runs: readonly Listed[]; everyRule: boolean }) {
  const { say, ...text } = useText();
  const oldest = runs.at(-1);
  if (!oldest) return null;
  const time = text.time(oldest.history[0]?.at ?? 0);
  const { app, ruleId, confId, input = null } = oldest;
  const open = () =>
    goTo(
      {
        ...{ app: String(app), ruleId, confId, panel: null, run: null, input },
        runs: runs.map(({ mockId }) => mockId).reverse(),
      },
      { push: true },
    );
  return (
    <tr onClick={open}>
      <td />
      <td>
        <button
          type="button"
          className="row-button"
          aria-label={say('history.open.comparison', { time })}
          onClick={(event) => {
            event.stopPropagation();
            open();
          }}
        >
          {time}
        </button>
      </td>
      <td>
        {[...new Map(runs.map((run) => [run.decision ?? run.state, run])).values()].map((run) => (
          <RunResult key={run.mockId} record={run} />
        ))}
      </td>
      {everyRule && <td>#{ruleId ?? confId}</td>}
      <td className="given">{inputInShort(input, MAX_INPUT) ?? ''}</td>
      <td>{say('history.comparison', { n: runs.length })}</td>
      <td className="number" />
      <td className="row-actions" />
    </tr>
  );
}
