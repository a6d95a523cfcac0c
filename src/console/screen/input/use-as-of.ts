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
  const bad = kept !== null && readMoment(kept, zone) === null;

  function change(text: string): void {
    const read = readMoment(text, zone);
    setTyped({ text, of: read ?? ts });
    if (read !== null) goTo({ ts: read });
  }

  return {
    ts,
    zone,
    text: kept ?? (ts === null ? '' : printMoment(ts, zone)),
    isNow: ts === null && kept === null,
    bad,
    change,
    /** Another time than now, to begin with: this second. */
    anotherTime: () => change(printMoment(String(Math.floor(Date.now() / 1000) * 1000), zone)),
    set(next: string | null): void {
      setTyped(null);
      goTo({ ts: next });
    },
    /** A time of day that was typed without an offset stays as it was typed and becomes one of this zone. */
    chooseZone(next: string): void {
      chooseZone(next);
      const read = kept === null ? null : readMoment(kept, next);
      if (read === null) return;
      setTyped({ text: kept ?? '', of: read });
      goTo({ ts: read });
    },
  };
}
