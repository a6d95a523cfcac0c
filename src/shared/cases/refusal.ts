import { printPath, type Step } from './path.ts';

/** Something in a document or request that cannot be used: where, and what to do about it. */
export type Refusal = { path: string; line: number | null; message: string };

/** The line a path is written in; null when that is not known. */
export type LineOf = (path: string) => number | null;
export const noLines: LineOf = () => null;

const MAX_REFUSALS = 100;

/** Collects refusals, the first hundred of them. */
export function createRefusals(lineOf: LineOf) {
  const all: Refusal[] = [];
  return {
    all,
    add(path: readonly Step[], message: string): void {
      if (all.length >= MAX_REFUSALS) return;
      const printed = printPath(path);
      all.push({ path: printed || 'document', line: lineOf(printed), message });
    },
  };
}
export type Refusals = ReturnType<typeof createRefusals>;

/** Refusals as sentences, with the file and line an editor can open. */
export function refusalLines(file: string, refusals: readonly Refusal[]): string {
  return refusals
    .map(({ path, line, message }) => `${file}${line === null ? '' : `:${line}`}: ${path} ${message}`)
    .join('\n');
}
