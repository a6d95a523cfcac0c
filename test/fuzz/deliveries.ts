import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  answersWith,
  answersWithDirectory,
  answersWithLinkTo,
  answersWithPipe,
  type Behaviour,
  type FoundRequest,
  type Responder,
} from '../support/responder.ts';

export type Deliver = (request: FoundRequest, bytes: Buffer, client: Responder) => Promise<unknown> | unknown;

/** How a client may put its result in place. */
export const deliveries = {
  async renamed(request, bytes) {
    await request.pickUp();
    await request.answer(bytes);
  },
  async 'in pieces'(request, bytes) {
    await request.pickUp();
    await writeFile(request.resultPath, '');
    await writeFile(request.resultPath, bytes.subarray(0, bytes.length / 2));
    await delay(20);
    await writeFile(request.resultPath, bytes);
  },
  'without picking up': (request, bytes) => request.answer(bytes),
  async 'after something else'(request, bytes) {
    await request.pickUp();
    await request.answer('starting…');
    await delay(200);
    await request.answer(bytes);
  },
} as const satisfies Record<string, Deliver>;

export type Delivery = keyof typeof deliveries;

type Strange = 'pipe' | 'directory' | 'link to a file' | 'link to nothing' | 'link to a result' | 'too large';

/** What a client may put in a result's place that is none. */
export function strangeDeliveries(maxBytes: number): Record<Strange, Deliver> {
  const as =
    (behaviour: Behaviour): Deliver =>
    (request, _bytes, client) =>
      behaviour(request, client);
  return {
    pipe: as(answersWithPipe),
    directory: as(answersWithDirectory),
    'link to a file': as(answersWithLinkTo('/etc/passwd')),
    'link to nothing': as(answersWithLinkTo('nowhere')),
    async 'link to a result'(request, _bytes, client) {
      const target = join(request.directory, 'kept-elsewhere');
      await writeFile(target, '{"success":true}');
      await answersWithLinkTo(target)(request, client);
    },
    'too large': as(answersWith('{"success":true}'.padEnd(maxBytes + 1))),
  };
}
