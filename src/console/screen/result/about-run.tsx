import { useState } from 'react';
import { type Execution, type ExecutionRecord, pinExecution } from '../../api/executions.ts';
import { keepPinned, openedRun } from '../../run/queries/use-execution.ts';
import { useLacks } from '../../run/queries/use-service.ts';
import { versionRan } from '../../run/reading.ts';
import { useForeignZone } from '../../state/preferences.ts';
import { useText } from '../../text/use-text.tsx';
import { useAnnounce, useFailed } from '../../ui/announce.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { IconButton } from '../../ui/icon.tsx';

type Props = { record: ExecutionRecord; execution: Execution | null; trace: string | null };

/**
 * When a run was asked for, by whom, on which version of the rules, under which id its client wrote about it into its log, and how long it
 * is kept.
 */
export function AboutRun({ record, execution, trace }: Props) {
  const { say, time } = useText();
  const { history, keyName, lane, rules } = record;
  const version = versionRan(rules);
  const foreign = useForeignZone();
  const words = [
    [time(history[0]?.at ?? 0), foreign].filter((word) => word !== null).join(' '),
    keyName !== null && say('history.by', { name: keyName }),
    lane !== null && say('target.inLane', { lane }),
    version !== null && say('about.version', { version }),
    trace !== null && say('about.trace', { trace }),
  ];
  return (
    <span className="about-run facts">
      {words.filter((word) => word !== false).join(' · ')}
      {trace !== null && (
        <CopyButton label={say('about.trace.copy')} done={say('about.trace.copied')} text={() => trace} quiet />
      )}
      {execution !== null && openedRun(record.mockId) === null && <Kept key={record.mockId} execution={execution} />}
    </span>
  );
}

function Kept({ execution: { record, pinned, keptUntil } }: { execution: Execution }) {
  const { say, time } = useText();
  const announce = useAnnounce();
  const failed = useFailed();
  const cannotPin = useLacks()('run');
  const [isPinned, setIsPinned] = useState(pinned);
  const toggle = async () => {
    await pinExecution(record.mockId, !isPinned);
    keepPinned(record.mockId, !isPinned);
    setIsPinned(!isPinned);
    announce(say(isPinned ? 'about.unpinned' : 'about.pinned'));
  };
  const until = keptUntil === null ? '' : `${say('about.kept', { time: time(keptUntil) })}. `;
  return (
    <>
      {isPinned && ` · ${say('about.pinned')}`}
      <IconButton
        icon="pin"
        label={cannotPin ?? (isPinned ? say('about.unpin') : `${until}${say('about.pin')}`)}
        pressed={isPinned}
        disabled={cannotPin !== null}
        onPress={() => void toggle().catch(failed)}
      />
    </>
  );
}
