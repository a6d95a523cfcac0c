import { useState } from 'react';
import type { Batch } from '../api/batches.ts';
import { Refused } from '../api/request.ts';
import { randomKey } from '../run/random-key.ts';
import { goTo } from '../state/location.ts';

/** Begins batches and goes to them. A call that was not answered is sent again under its key, so that nothing runs twice. */
export function useStart() {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const start = async (begin: (key: string) => Promise<Batch>) => {
    setBusy(true);
    setError(null);
    const key = randomKey();
    try {
      const again = (failure: unknown) => (failure instanceof Refused ? Promise.reject(failure) : begin(key));
      const { batchId } = await begin(key).catch(again);
      goTo({ batch: batchId, item: null, caseName: null }, { push: true });
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
    }
    setBusy(false);
  };
  return { busy, error, start, forget: () => setError(null) };
}
