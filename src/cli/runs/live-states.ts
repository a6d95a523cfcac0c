import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { isEndState, type State } from '../../shared/contract/endings/states.ts';
import type { StateEvent } from '../../shared/contract/execution.ts';
import { visible } from '../../shared/contract/json/visible-text.ts';

const REDRAW_MS = 100;

const WAITING_FOR: Partial<Record<State, string>> = {
  queued: 'waits for a worker',
  dispatched: 'waits for the client to pick it up',
  'picked-up': 'the rule runs',
};

/** Shows on a terminal how far an execution is, and what it is waiting for at the moment. */
export function showLiveStates(terminal: Writable) {
  let first: number | undefined;
  let waiting = '';
  const clear = () => terminal.write('\r\u001b[K');
  const seconds = (at: number) => `${((at - (first ?? at)) / 1000).toFixed(2).padStart(7)} s`;
  const redraw = setInterval(() => {
    if (waiting === '') return;
    clear();
    terminal.write(styleText('dim', `${seconds(Date.now())}  … ${waiting}`, { stream: terminal }));
  }, REDRAW_MS);

  return {
    reached({ state, at, address }: StateEvent): void {
      first ??= at;
      clear();
      const where = state === 'dispatched' && address ? `  ${visible(address)}` : '';
      const name = styleText(isEndState(state) ? 'bold' : 'cyan', state.padEnd(11), { stream: terminal });
      terminal.write(`${seconds(at)}  ${name}${where}\n`);
      waiting = WAITING_FOR[state] ?? '';
    },
    close(): void {
      clearInterval(redraw);
      if (waiting !== '') clear();
    },
  };
}
