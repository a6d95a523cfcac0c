import type { Listed } from '../api/executions.ts';
import { diffJson } from '../json/diff-json.ts';
import { compactJson } from '../json/print-json.ts';
import { readJson } from '../json/read-json.ts';

export const outcomeFilters = ['any', 'TRUE', 'FALSE', 'NONE', 'no-result'] as const;
export const timeFilters = ['any', 'hour', 'today', 'yesterday'] as const;

/** Which runs to show. `text`: words of the input, the client, the rule's number or the id; all of them must be there. */
export type HistoryFilter = {
  text: string;
  outcome: (typeof outcomeFilters)[number];
  time: (typeof timeFilters)[number];
};
export const noFilter: HistoryFilter = { text: '', outcome: 'any', time: 'any' };

/** The runs that a filter lets through. `now`: epoch ms; days are those of the reader. */
export function filterRuns<T extends Listed>(runs: readonly T[], filter: HistoryFilter, now: number): T[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const [from, to] = spanOf(filter.time, now);
  return runs.filter((run) => {
    const at = run.history[0]?.at ?? 0;
    if (at < from || at >= to) return false;
    if (filter.outcome !== 'any' && (run.decision ?? 'no-result') !== filter.outcome) return false;
    if (words.length === 0) return true;
    const text = searched(run);
    return words.every((word) => text.includes(/^\d+$/.test(word) ? ` ${word} ` : word));
  });
}

/** `uid 42` and `uid:42` find `"uid":42`, and not 4200: a number is a word of its own. */
function searched({ input, address, target, mockId, ruleId }: Listed): string {
  const plain = inputInShort(input, Number.POSITIVE_INFINITY) ?? '';
  const words = plain.replace(/[{}[\],:"\s]+/g, ' ');
  return ` ${plain} ${words} ${input ?? ''} ${address ?? ''} ${target} ${mockId} #${ruleId ?? ''} `.toLowerCase();
}

function spanOf(time: HistoryFilter['time'], now: number): [number, number] {
  const midnight = new Date(now);
  midnight.setHours(0, 0, 0, 0);
  const today = midnight.getTime();
  midnight.setDate(midnight.getDate() - 1);
  switch (time) {
    case 'any':
      return [0, Number.POSITIVE_INFINITY];
    case 'hour':
      return [now - 3_600_000, Number.POSITIVE_INFINITY];
    case 'today':
      return [today, Number.POSITIVE_INFINITY];
    case 'yesterday':
      return [midnight.getTime(), today];
  }
}

/** An input in a few words, "cost 99, uid 1"; null when the list does not have it. */
export function inputInShort(input: string | null, maxLength: number): string | null {
  const read = input === null ? null : readJson(input);
  if (read?.kind !== 'ok' || read.root.kind !== 'object') return null;
  const short = read.root.members.map(({ key, value }) => {
    return `${key} ${value.kind === 'string' ? value.value : compactJson(value)}`;
  });
  const text = short.join(', ');
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
}

/** What changed from an earlier run's input to this one's, "cost 100 → 99"; null when nothing did or it is not known. */
export function changedInput(before: string | null, after: string | null): string | null {
  const [a, b] = [before, after].map((text) => (text === null ? null : readJson(text)));
  if (a?.kind !== 'ok' || b?.kind !== 'ok') return null;
  const changes = diffJson(a.root, b.root).changes.filter(({ kind }) => kind !== 'same');
  if (changes.length === 0) return null;
  const words = changes.map(({ path, before: was, after: is }) => {
    return `${path} ${was ? compactJson(was) : '–'} → ${is ? compactJson(is) : '–'}`;
  });
  return words.join(', ');
}
