import type { Step } from '../cases/path.ts';
import { HIDDEN, type HiddenField, hideAt, namesOf, scalarsIn } from './hide-at.ts';
import { createQuotes } from './hide-quoted.ts';
import { maskAnswer } from './mask-answer.ts';

export type Mask = ReturnType<typeof createMask>;

/**
 * Masks all texts of one execution. Apply it to the data first: what is hidden there is then also hidden in errors, traces, warnings, names
 * and other fields.
 */
export function createMask(fields: readonly HiddenField[]) {
  const quotes = createQuotes();
  const hit = new Set<string>();

  function note(path: string, raw: string): void {
    hit.add(path);
    if (raw === HIDDEN) return;
    for (const value of scalarsIn(raw)) quotes.add(value);
  }

  /** The data of an execution, or a part of it that begins at its root: without the fields, and without copies of what they hold. */
  function data(raw: string): string {
    const byPath = fields.reduce((shown, { path, steps }) => hideAt(shown, steps, (found) => note(path, found)), raw);
    return quotes.json(byPath, (path) => hit.add(path));
  }

  return {
    data,
    /** A sentence, or a trace. */
    text: quotes.text,
    /** The ending: an answer of the client, or why there is none. */
    answer: (raw: string): string => maskAnswer(raw, { data, quotes, fields, note }),
    /** Whether a difference at this path could show a hidden value. `steps` begin at the data. */
    covers: (steps: readonly Step[]): boolean => fields.some((field) => overlap(steps, field.steps)),
    /** The paths that hid something so far: as the operator wrote them, and those of copies. */
    hits: (): string[] => [...hit],
  };
}

function overlap(steps: readonly Step[], others: readonly Step[]): boolean {
  const [names, wanted] = [namesOf(steps), namesOf(others)];
  return names.every((step, index) => index >= wanted.length || step === wanted[index]);
}
