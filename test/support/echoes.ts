import { setTimeout as delay } from 'node:timers/promises';
import { unless } from '../../src/shared/runtime/errno.ts';
import { type Behaviour, resultText } from './responder.ts';

const wasWithdrawn = unless('ENOENT');

type Options = {
  afterMs?: number;
  /** Answers wait for it. */
  once?: Promise<unknown>;
  /** Collects the ids of what it ran: a request that was withdrawn before it could delete it is not among them. */
  ran?: string[];
  /** What answers have besides the input. */
  more?: Record<string, unknown>;
};

/** Answers every request with its own input, so that an answer that went to the wrong caller shows. */
export const echoes =
  ({ afterMs = 0, once, ran, more }: Options = {}): Behaviour =>
  async (request) => {
    const picked = await request.pickUp().then(() => true, wasWithdrawn);
    if (!picked) return;
    ran?.push(request.mockId);
    await delay(afterMs);
    await once;
    await request.answer(
      resultText(request, { 'the service': { ...JSON.parse(request.text)['the service'], ...more } }),
    );
  };
