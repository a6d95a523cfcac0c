import { fork } from 'node:child_process';
import { on, once } from 'node:events';
import { join } from 'node:path';
import { z } from 'zod';

/** What the process that makes the calls is told. */
export const orderSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('press'), perSecond: z.number() }),
  z.object({ kind: z.literal('stop') }),
]);

const pressedSchema = z.object({
  number: z.int(),
  /** When it was made, in ms after the first one. */
  at: z.number(),
  ms: z.number(),
  /** 0: it got no answer, and `code` says why. */
  status: z.int(),
  code: z.string().optional(),
  mayHaveRun: z.boolean().optional(),
  retryAfter: z.string().optional(),
  /** The number in the answer of the client. */
  echoed: z.int().optional(),
});
/** How one call ended. */
export type Pressed = z.infer<typeof pressedSchema>;

/** What it tells: the calls that ended since it told the last time, and how many it made once all of them did. */
const toldSchema = z.object({ ended: z.array(pressedSchema), made: z.int().optional() });
export type Told = z.infer<typeof toldSchema>;

export type Press = {
  /** The calls that have ended so far. */
  ended: Pressed[];
  /** Makes no more calls. Resolves to how many were made, once each of them has ended. */
  stop(): Promise<number>;
  [Symbol.dispose](): void;
};

/**
 * Calls execute so often, each call with a number of its own, whatever becomes of them. A process of its own does it, so that a caller
 * who is busy slows down neither the clients nor the test.
 */
export async function startPressing(url: string, perSecond: number): Promise<Press> {
  const child = fork(join(import.meta.dirname, 'press-calls.ts'), [url]);
  await once(child, 'message');
  const ended: Pressed[] = [];
  const all = collect();
  child.send({ kind: 'press', perSecond });

  async function collect(): Promise<number> {
    for await (const [message] of on(child, 'message', { close: ['exit'] })) {
      const told = toldSchema.parse(message);
      ended.push(...told.ended);
      if (told.made !== undefined) return told.made;
    }
    throw new Error('who makes the calls has died');
  }

  all.catch(() => {}); // told when it is stopped
  return {
    ended,
    stop() {
      child.send({ kind: 'stop' });
      return all;
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}
