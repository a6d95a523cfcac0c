import { useState } from 'react';
import { printMoment, readMoment } from '../../../shared/contract/moment.ts';
import { goTo } from '../../state/location.ts';
import { chooseZone, useZone } from '../../state/preferences.ts';

export type AsOfInput = ReturnType<typeof useAsOf>;

/** The time a rule runs as of, as it is typed. What is no moment yet is kept apart and holds up Run. */
export function useAsOf(ts: string | null) {
  const zone = useZone();
  /** `of`: the moment it stands for, or stood beside; another one that is chosen meanwhile takes its place. */
  const [typed, setTyped] = useState<{ text: string; of: string | null } | null>(null);
  const kept = typed?.of === ts ? typed.text : null;
  const wrong = wrongIn(kept, zone);

  function change(text: string): void {
    const read = readMoment(text, zone);
    setTyped({ text, of: read.kind === 'moment' ? read.ms : ts });
    if (read.kind === 'moment') goTo({ ts: read.ms });
  }

  return {
    ts,
    zone,
    text: kept ?? (ts === null ? '' : printMoment(ts, zone)),
    isNow: ts === null && kept === null,
    /** Why what is typed is no moment; null when it is one. */
    wrong,
    bad: wrong !== null,
    change,
    /** Another time than now, to begin with: this second. */
    anotherTime: () => goTo({ ts: String(Math.floor(Date.now() / 1000) * 1000) }),
    set(next: string | null): void {
      setTyped(null);
      goTo({ ts: next });
    },
    /** A time of day that was typed without an offset stays as it was typed and becomes one of this zone. */
    chooseZone(next: string): void {
      chooseZone(next);
      const read = kept === null ? null : readMoment(kept, next);
      if (read?.kind !== 'moment') return;
      setTyped({ text: kept ?? '', of: read.ms });
      goTo({ ts: read.ms });
    },
  };
}

function wrongIn(kept: string | null, zone: string): 'bad' | 'time-skipped' | 'time-twice' | null {
  const { kind } = kept === null ? { kind: 'moment' as const } : readMoment(kept, zone);
  if (kind === 'moment') return null;
  return kind === 'time-skipped' || kind === 'time-twice' ? kind : 'bad';
}
