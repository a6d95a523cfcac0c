import { afterEach, expect, it, vi } from 'vitest';
import { noAnswer } from '../../../src/shared/contract/endings/no-answer.ts';
import { directoryOnly } from '../../../src/worker/clients/client.ts';
import { createUnwritableClients } from '../../../src/worker/placement/unwritable-clients.ts';

afterEach(() => void vi.useRealTimers());

it('an execution says which client it passed over, however long it took to find another one; others say it for 5 s', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const clients = createUnwritableClients({ onNoted: () => {} });
  const client = directoryOnly(1, 'full');
  clients.note(client, noAnswer('client-full', { address: client.address }));
  const codes = (tried: string[]) => clients.warningsAbout(() => [client], new Set(tried)).map(({ code }) => code);
  expect(codes([])).toEqual(['client-passed-over']);
  vi.advanceTimersByTime(6000);
  expect(codes([])).toEqual([]);
  expect(codes(['full'])).toEqual(['client-passed-over']);
});
