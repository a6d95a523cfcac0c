import type { ItemDetail, ItemHead } from '../cases/batch.ts';
import type { Case } from '../cases/case.ts';
import { parsePath } from '../cases/path.ts';
import type { Difference } from '../contract/batches.ts';
import { mapTexts } from '../reasons/template.ts';
import { HIDDEN } from './hide-at.ts';
import type { Mask } from './mask.ts';

/** A case as it may be shown: its name, its input, and what is expected of its data and its error. */
export function maskCase(one: Case, mask: Mask): Case {
  const input = mask.data(one.input);
  const name = mask.text(one.name);
  if (one.expect === null) return { ...one, name, input };
  const { data, error, ...others } = one.expect;
  const expect = {
    ...others,
    ...(data !== undefined && { data: mask.data(data) }),
    ...(error !== undefined && { error: mask.text(error) }),
  };
  return { ...one, name, input, expect };
}

/** Masks the ending of an item. The mask must have seen the data of its case. */
export function maskOutcome<Head extends Pick<ItemHead, 'error' | 'params'>>(
  { head, detail }: { head: Head; detail: ItemDetail | null },
  mask: Mask,
): { head: Head; detail: ItemDetail | null } {
  const data = detail?.data ?? null;
  const shown = data === null ? null : mask.data(data); // first: an error may quote what is in there
  return {
    head: {
      ...head,
      error: head.error === null ? null : mask.text(head.error),
      params: mapTexts(head.params, mask.text),
    },
    detail: detail && {
      ...detail,
      data: shown,
      differences: detail.differences.map((each) => maskDifference(each, mask)),
    },
  };
}

function maskDifference(difference: Difference, mask: Mask): Difference {
  const { path, expected, actual } = difference;
  const [root, ...steps] = parsePath(path) ?? [];
  const hide = root === 'data' && mask.covers(steps) ? () => HIDDEN : mask.text;
  return {
    ...difference,
    expected: expected === null ? null : hide(expected),
    actual: actual === null ? null : hide(actual),
  };
}

/** The parts of a case that are kept for an app in HISTORY_OFF. */
export function withoutData(one: Case): Case {
  return { ...one, input: '{}', ts: null, expect: null };
}

/** The parts of an item that are kept for such an app: how it ended, without its result. */
export function withoutOutcome(head: ItemHead): ItemHead {
  return { ...head, error: null, reason: null, params: {}, differences: 0 };
}
