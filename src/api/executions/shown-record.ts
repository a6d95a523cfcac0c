import { type ExecutionRecord, maskedReason, shownError } from '../../shared/contract/execution-record.ts';
import { HIDDEN } from '../../shared/privacy/hide-at.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import type { HistoryPart } from '../../shared/store/history/history.ts';

type Texts = Pick<HistoryPart, 'input' | 'result'>;

/**
 * The record of a settled execution as it may be shown. What its error quotes of hidden fields was taken out when it was kept; fields that
 * are hidden since are taken out now.
 */
export async function shownRecord(record: ExecutionRecord, texts: Texts, privacy: Privacy): Promise<ExecutionRecord> {
  const mask = shownError(record) === null ? null : privacy.maskFor(record.app);
  if (mask === null) return record;
  const [input, result] = await Promise.all([texts.input(record.mockId), texts.result(record.mockId)]);
  // Without its data it is unknown which values the error quotes.
  if (input === null || input === '') return { ...maskedReason(record, { text: () => HIDDEN }), error: null };
  mask.data(input);
  if (result !== null) mask.answer(result);
  return maskedReason(record, mask);
}
