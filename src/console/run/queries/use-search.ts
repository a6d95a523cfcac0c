import { useEffect, useMemo, useState } from 'react';
import type { RunSearch } from '../../api/executions.ts';
import { serviceNow } from '../../api/service-clock.ts';
import { useZone } from '../../state/preferences.ts';
import { type HistoryFilter, noFilter, searchOf } from '../history/history-filter.ts';

/** The search starts once typing has paused. */
const TYPED_MS = 300;
const MINUTE_MS = 60_000;

/** The search of a filter; null when it lets everything through. */
export function useSearch(filter: HistoryFilter): RunSearch | null {
  const [settled, setSettled] = useState(noFilter);
  const [now, setNow] = useState(serviceNow);
  const zone = useZone();
  useEffect(() => {
    const settle = () => {
      setSettled(filter);
      setNow(serviceNow());
    };
    if (filter === noFilter) return settle();
    const timer = setTimeout(settle, TYPED_MS);
    return () => clearTimeout(timer);
  }, [filter]);
  useEffect(() => {
    const timer = setInterval(() => setNow(serviceNow()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  return useMemo(() => searchOf(settled, minute, zone), [settled, minute, zone]);
}
