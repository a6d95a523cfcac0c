import { useState } from 'react';
import type { Batch } from '../api/batches.ts';
import { Refused } from '../api/request.ts';
import { randomKey } from '../run/random-key.ts';
import { isSlip } from '../run/slip.ts';
import { goTo } from '../state/location.ts';

/** Begins batches and goes to them. `what`: the kind of batch, to know a second press by. A call that was not answered is sent again under its key, so that nothing runs twice. */
export function useStart(what = 'batch') {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const start = async (begin: (key: string) => Promise<Batch>) => {
    if (busy || isSlip(what)) return;
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
