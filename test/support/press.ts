import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { z } from 'zod';

/** So many calls a second for so long, each with a number of its own, whatever becomes of them. */
export const loadSchema = z.object({ perSecond: z.number(), seconds: z.number() });
export type Load = z.infer<typeof loadSchema>;

const pressedSchema = z.object({
  number: z.int(),
  /** When it was made, in ms after the load began. */
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
/** How one call of a load ended. */
export type Pressed = z.infer<typeof pressedSchema>;

const endedSchema = z.array(pressedSchema);

/** Makes calls of execute in a process of its own, so that a caller who is busy slows down neither clients nor the test. */
export async function startPressing(url: string) {
  const child = fork(join(import.meta.dirname, 'press-calls.ts'), [url]);
  await once(child, 'message');
  return {
    /** Resolves once all calls of the load are made; `ended` once each has ended. */
    async press(load: Load): Promise<{ ended: Promise<Pressed[]> }> {
      const made = once(child, 'message');
      child.send(load);
      await made;
      return { ended: once(child, 'message').then(([calls]) => endedSchema.parse(calls)) };
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}
