import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import type { Progress } from './follow-batch.ts';

const WIDTH = 30;

/** A bar on a terminal, in one line that is drawn again and goes away at the end. */
export function showProgress(terminal: Writable) {
  const clear = () => terminal.write('\r\u001b[K');
  return {
    show({ counts }: Progress): void {
      const { pending, ...done } = counts;
      const ended = Object.values(done).reduce((sum, count) => sum + count, 0);
      const all = ended + pending;
      const full = all === 0 ? WIDTH : Math.round((ended / all) * WIDTH);
      const bad = done.failed + done.error + done.unanswered;
      const bar = styleText(bad > 0 ? 'red' : 'green', '█'.repeat(full), { stream: terminal });
      clear();
      terminal.write(`${bar}${'░'.repeat(WIDTH - full)} ${ended}/${all}  ${countsLine(counts)}`);
    },
    close: clear,
  };
}

/** `3 passed, 1 failed`: what there is of each verdict. */
export function countsLine(counts: Progress['counts']): string {
  const { error, ...rest } = counts;
  const named = Object.entries({ ...rest, 'in error': error }).filter(([, count]) => count > 0);
  return named.map(([name, count]) => `${count} ${name}`).join(', ') || 'nothing ran';
}
