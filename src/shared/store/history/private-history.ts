import type { Settled } from '../../contract/execution-record.ts';
import type { Mask } from '../../privacy/mask.ts';
import type { Privacy } from '../../privacy/privacy.ts';
import type { Store } from '../key-value-store.ts';
import type { History } from './history.ts';

/**
 * A history that keeps hidden fields out (MASK), and of some apps nothing but that an execution was there and how it ended
 * (HISTORY_OFF): so their ids are known, their clients' late answers are recognised, and none of their data is anywhere.
 */
export function createPrivateHistory(
  history: History,
  { privacy, store }: { privacy: Privacy; store: Store },
): History {
  if (privacy.isEmpty) return history;

  return {
    ...history,
    async add(settled) {
      const { app } = settled.record;
      if (privacy.isOff(app)) return history.add(withoutData(settled));
      const mask = privacy.maskFor(app);
      if (mask === null) return history.add(settled);
      const { result } = settled;
      if ('body' in result) return history.add(masked(settled, result.body, mask));
      // The whole answer stays in the store for its caller, until it expires there.
      const body = store.getNow ? store.getNow(result.stored) : await store.get(result.stored);
      return history.add(masked(settled, body ?? 'null', mask));
    },
    async addLateResult(mockId, body, rules) {
      const record = await history.get(mockId);
      if (record === null || privacy.isOff(record.app)) return;
      await history.addLateResult(mockId, privacy.maskFor(record.app)?.answer(body) ?? body, rules);
    },
    list: (filter) => history.list({ ...filter, notApps: privacy.off }),
  };
}

/** The answer comes before the sentences: what is hidden in it is hidden in them too. */
function masked({ record, input }: Settled, body: string, mask: Mask): Settled {
  const shown = { input: mask.data(input), result: { body: mask.answer(body) } };
  const warnings = record.warnings.map((warning) => ({ ...warning, message: mask.text(warning.message) }));
  const error = record.error === null ? null : mask.text(record.error);
  return { ...shown, record: { ...record, warnings, error } };
}

function withoutData({ record }: Settled): Settled {
  return { record: { ...record, warnings: [], error: null }, input: '', result: { body: '' } };
}
