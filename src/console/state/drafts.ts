import { type ValueKind, valueKinds } from '../json/form-value.ts';
import { createStored, isRecord } from './stored.ts';

/** The typed input of each rule, as JSON text that may be unfinished. The newest last. */
type Draft = { rule: string; text: string };

const MAX_DRAFTS = 50;
const MAX_LASTING_LENGTH = 100_000;

const drafts = createStored<Draft[]>('drafts', {
  read: (stored) => (Array.isArray(stored) ? stored.filter(isRecord).flatMap(readDraft) : []),
  lasting: (all) => all.filter(({ text }) => text.length <= MAX_LASTING_LENGTH),
});

function readDraft({ rule, text }: Record<string, unknown>): Draft[] {
  return typeof rule === 'string' && typeof text === 'string' ? [{ rule, text }] : [];
}

/** The name of a rule's draft. */
export function draftKey(app: string, { ruleId, confId }: { ruleId: string | null; confId: string | null }): string {
  return `${app}/${ruleId ?? ''}/${confId ?? ''}`;
}

export function useDraft(rule: string): string | null {
  return drafts.use().find((draft) => draft.rule === rule)?.text ?? null;
}

export function keepDraft(rule: string, text: string): void {
  const others = drafts.get().filter((draft) => draft.rule !== rule);
  drafts.set([...others.slice(1 - MAX_DRAFTS), { rule, text }]);
}

/** Leaves nothing of what was typed, neither here nor in the browser's storage. */
export function forgetDrafts(): void {
  drafts.forget();
}

/** The kind of value last chosen for a key, whatever the rule. */
const kinds = createStored<Record<string, ValueKind>>('kinds', {
  read: (stored) =>
    Object.fromEntries(
      Object.entries(isRecord(stored) ? stored : {}).flatMap(([key, kind]) => {
        const found = valueKinds.find((known) => known === kind);
        return found ? [[key, found] as const] : [];
      }),
    ),
});

export const useKinds = kinds.use;

export function keepKind(key: string, kind: ValueKind): void {
  kinds.set({ ...kinds.get(), [key]: kind });
}
