import type { Made } from '../world/scheduler.ts';

const WIDTH = 46;

/** A run as a table: a column for each process, a row for each step. */
export function tell(trace: readonly Made[], { last = 400 } = {}): string {
  const processes = [...new Set(trace.map(({ process }) => process))];
  const line = (first: string, cells: readonly string[]) =>
    [first.padStart(10), ...cells.map((cell) => cell.slice(0, WIDTH).padEnd(WIDTH))].join(' | ').trimEnd();
  const rows = trace.slice(-last).map(({ at, process, what, how, result }) => {
    const text = `${what}${how === 'done' || how === '' ? '' : ` [${how}]`}${result === '' ? '' : ` -> ${result}`}`;
    return line(
      `${at} ms`,
      processes.map((name) => (name === process ? text : '')),
    );
  });
  return [line('', processes), ...rows].join('\n');
}
