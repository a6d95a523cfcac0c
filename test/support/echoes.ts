import { setTimeout as delay } from 'node:timers/promises';
import { unless } from '../../src/shared/errno.ts';
import { type Behaviour, resultText } from './responder.ts';

const wasWithdrawn = unless('ENOENT');

/** Answers every request with its own input, so that an answer that went to the wrong caller shows. */
export const echoes =
  ({ afterMs = 0, once }: { afterMs?: number; once?: Promise<unknown> } = {}): Behaviour =>
  async (request) => {
    const picked = await request.pickUp().then(() => true, wasWithdrawn);
    if (!picked) return;
    await delay(afterMs);
    await once;
    await request.answer(resultText(request, { 'the service': JSON.parse(request.text)['the service'] }));
  };
