import { useCallback, useEffect, useState } from 'react';
import { type ExecutionRecord, getHistory } from '../../api/executions.ts';
import { everyRun } from '../../run/history/history-filter.ts';
import { goTo } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import { useAnnounce } from '../../ui/announce.tsx';
import { onCommand } from '../frame/commands.ts';

const PAGE = 20;

/** Shows a run beside the one before it: the run it repeats, else the last earlier one of the same rule. */
export function CompareBefore({ record }: { record: ExecutionRecord }) {
  const { say } = useText();
  const announce = useAnnounce();
  const [asking, setAsking] = useState(false);
  const { mockId } = record;
  const compare = useCallback(async () => {
    setAsking(true);
    const before = await runBefore(record).finally(() => setAsking(false));
    if (before === null) return announce(say('compare.before.none'));
    goTo({ panel: null, run: null, runs: [before, mockId] }, { push: true });
  }, [record, mockId, announce, say]);
  const press = useCallback(() => {
    compare().catch(() => announce(say('failed.unreachable')));
  }, [compare, announce, say]);
  useEffect(() => onCommand((command) => command === 'compare' && press()), [press]);
  return (
    <button type="button" className="button" disabled={asking} title={say('compare.before.hint')} onClick={press}>
      {say('compare.before')}
      <kbd>c</kbd>
    </button>
  );
}

async function runBefore({
  mockId,
  app,
  ruleId,
  confId,
  derivedFrom,
  history,
}: ExecutionRecord): Promise<string | null> {
  if (derivedFrom !== null) return derivedFrom;
  const search = { ...everyRun, to: String(history[0]?.at ?? 0) };
  const { items } = await getHistory({ app: String(app), ruleId, search, limit: PAGE, cursor: null });
  return items.find((item) => item.mockId !== mockId && item.confId === confId)?.mockId ?? null;
}
