import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { unless } from '../../src/shared/runtime/errno.ts';
import { type Behaviour, type FoundRequest, type Responder, resultText } from '../support/responder.ts';
import type { Play } from './scenario.ts';

/** What clients did about one call. */
export type Deeds = {
  /** Every time its request was found. */
  found: FoundRequest[];
  /** The executions that were taken to be run. */
  ran: string[];
  /** When a usable answer lay there, epoch ms. */
  answeredAt?: number;
  /** When its request says that it was made, epoch ms. */
  createdAt?: number;
};

/** A client that does with each request what its call's plan says, and takes note. */
export function playing(playOf: (number: number) => Play | undefined, deedsOf: (number: number) => Deeds): Behaviour {
  return async (request, client) => {
    const { ruleId: number, createAt } = JSON.parse(request.text);
    const play = playOf(number);
    const deeds = deedsOf(number);
    deeds.found.push(request);
    deeds.createdAt = createAt;
    if (play) await perform(play, { request, client, deeds });
  };
}

type Scene = { request: FoundRequest; client: Responder; deeds: Deeds };

async function perform(play: Play, scene: Scene): Promise<void> {
  const { request, client, deeds } = scene;
  switch (play.kind) {
    case 'never looks':
      return;
    case 'never answers':
      await took(scene);
      return;
    case 'leaves at once':
      await client.unregister();
      return client.removeDirectory();
    case 'leaves with the request':
      if (!(await took(scene))) return;
      await delay(play.afterMs);
      await client.unregister();
      return client.removeDirectory();
    case 'keeps its request':
      deeds.ran.push(request.mockId);
      await delay(play.afterMs);
      return answer(scene, true);
    case 'answers':
    case 'answers late':
      if (!(await took(scene))) return;
      await delay(play.afterMs);
      return answer(scene, true);
    case 'looks late':
      await delay(play.afterMs);
      if (!(await took(scene))) return;
      return answer(scene, true);
    case 'fails':
      if (!(await took(scene))) return;
      await delay(play.afterMs);
      return answer(scene, false);
    case 'fills in slowly':
      if (!(await took(scene))) return;
      await writeFile(request.resultPath, '');
      await delay(play.afterMs);
      await writeFile(request.resultPath, ownResult(request, true));
      deeds.answeredAt = Date.now();
      return;
    case 'writes nonsense':
      if (!(await took(scene))) return;
      await delay(play.afterMs);
      await request.answer('done');
  }
}

/** Like a client that gives up on a request it cannot delete: somebody withdrew it. */
async function took({ request, deeds }: Scene): Promise<boolean> {
  const mine = await request.pickUp().then(() => true, unless('ENOENT'));
  if (mine) deeds.ran.push(request.mockId);
  return mine === true;
}

async function answer({ request, deeds }: Scene, success: boolean): Promise<void> {
  await request.answer(ownResult(request, success));
  deeds.answeredAt = Date.now();
}

/** The input comes back to the letter. */
function ownResult(request: FoundRequest, success: boolean): string {
  const data = /"the service":(\{[^}]*\})/.exec(request.text)?.[1] ?? '{}';
  return resultText(request, { success, 'the service': undefined }).replace(/\}$/, `,"the service":${data}}`);
}
