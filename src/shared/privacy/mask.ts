import type { Step } from '../cases/path.ts';
import { type HiddenField, namesOf } from './hidden-field.ts';
import { HIDDEN, hideAt, scalarsIn } from './hide-at.ts';
import { maskAnswer } from './mask-answer.ts';

/** Shorter values are ordinary words, ids and times: replaced wherever they stand, they would spoil every sentence. */
const SHORTEST = { word: 4, digits: 6 };
const MAX_QUOTED = 200;
const REPLACEMENT = '***';

export type Mask = ReturnType<typeof createMask>;

/**
 * Hides fields in all texts of one execution. Give it the data first: what was hidden there is also replaced where an error, a
 * trace or a warning quotes it.
 */
export function createMask(fields: readonly HiddenField[]) {
  const quotable = new Set<string>();
  const hit = new Set<string>();

  function note(path: string, raw: string): void {
    hit.add(path);
    if (raw === HIDDEN) return;
    for (const text of scalarsIn(raw)) {
      const shortest = /^[\d.+-]+$/.test(text) ? SHORTEST.digits : SHORTEST.word;
      if (text.length >= shortest && quotable.size < MAX_QUOTED) quotable.add(text);
    }
  }

  /** The data of an execution, or a part of it that begins at its root. */
  function data(raw: string): string {
    return fields.reduce((shown, { path, steps }) => hideAt(shown, steps, (found) => note(path, found)), raw);
  }

  /** A sentence, or a trace. */
  function text(given: string): string {
    const longestFirst = [...quotable].sort((a, b) => b.length - a.length);
    return longestFirst.reduce((changed, quoted) => changed.replaceAll(quoted, REPLACEMENT), given);
  }

  return {
    data,
    text,
    /** The ending: an answer of the client, or why there is none. */
    answer: (raw: string): string => maskAnswer(raw, { data, text, fields, note }),
    /** Whether a difference at this path could show a hidden value. `steps` begin at the data. */
    covers: (steps: readonly Step[]): boolean => fields.some((field) => overlap(steps, field.steps)),
    /** The paths that hid something so far, as the operator wrote them. */
    hits: (): string[] => [...hit],
  };
}

function overlap(steps: readonly Step[], others: readonly Step[]): boolean {
  const [names, wanted] = [namesOf(steps), namesOf(others)];
  return names.every((step, index) => index >= wanted.length || step === wanted[index]);
}
