import type { ExecutionRecord } from '../../api/executions.ts';
import { deadlineOf } from '../../run/phases.ts';
import { useNow } from '../../run/queries/use-now.ts';
import { useKept } from '../../run/queries/use-service.ts';
import { formatAge } from '../../text/durations.ts';
import { useText } from '../../text/use-text.tsx';
import { Stations } from './state-strip.tsx';

const SECOND = 1000;

/** A run that is on its way: what happens now, how long it may still take at the most, and what to do when nothing comes. */
export function Waiting({ record }: { record: ExecutionRecord | null }) {
  const { say } = useText();
  const now = useNow(true);
  const { data } = useKept();
  if (record === null) return <div className="waiting">{say('wait.sending')}</div>;
  const deadline = data === undefined ? null : deadlineOf(record, data.waits);
  const left = deadline === null ? null : Math.max(0, Math.ceil((deadline.at - now) / SECOND));
  const state = record.state === 'picked-up' || record.state === 'dispatched' ? record.state : 'queued';
  return (
    <div className="waiting">
      {deadline !== null && (
        <progress
          aria-label={say('wait.label')}
          max={deadline.at - deadline.from}
          value={Math.min(now, deadline.at) - deadline.from}
        />
      )}
      <span>
        {left !== null && <span>{say('wait.left', { time: formatAge(left * SECOND) })} </span>}
        <span>{say(`wait.${state}`)}</span>
      </span>
      <Stations record={record} />
    </div>
  );
}
