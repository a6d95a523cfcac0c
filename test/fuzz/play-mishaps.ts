import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { withDeadline } from '../support/deadline.ts';
import { type Answer, httpCall } from '../support/http-call.ts';
import type { MishapCall, Mishaps } from './mishap.ts';
import { type MishapClient, startMishapClient } from './mishap-client.ts';
import type { MishapWorld } from './mishap-world.ts';

/** Its time in the queue, its client's, and room for a machine with much to do. */
const ENDS_WITHIN_MS = 60_000;
/** A key whose call did not run is free within two seconds; a machine with much to do gets more. */
const FREE_WITHIN_MS = 15_000;
const REPEAT_MS = 300;

/** What came of one call; with a key `answers` has each repeat. */
export type MishapEnd = { plan: MishapCall; app: number; exact: string; answers: Answer[]; client: MishapClient };

let apps = 0;

/** Plays calls in trouble, each with an app and a client of its own, until all have ended. */
export async function playMishaps(world: MishapWorld, { calls, replaceAtMs }: Mishaps): Promise<MishapEnd[]> {
  const { sharedDir } = world.processes;
  const first = apps + 1;
  apps += calls.length;
  const clients = await Promise.all(calls.map((plan, at) => startMishapClient(sharedDir, first + at, plan)));
  const replaced = replaceAtMs === null ? undefined : delay(replaceAtMs).then(() => world.replaceWorker());
  try {
    return await Promise.all(
      clients.map(async (client, at) => {
        const [plan, app] = [calls[at], first + at];
        if (!plan) throw new Error('there is no such call');
        await delay(plan.atMs);
        const exact = String(9_007_199_254_740_993n + BigInt(app));
        const body = `{"app":${app},"ruleId":1,"the service":{"exact":${exact}}}`;
        const answers = await withDeadline(answersTo(world, plan, body, app), ENDS_WITHIN_MS, `call ${app}`);
        return { plan, app, exact, answers, client };
      }),
    );
  } finally {
    await replaced;
    await Promise.all(clients.map((client) => client.stop()));
  }
}

async function answersTo(world: MishapWorld, { noted }: MishapCall, body: string, app: number): Promise<Answer[]> {
  const { direct, behindProxy, proxy } = world;
  if (noted === null) return [await execute(direct.url, body)];
  const key = randomUUID();
  if (noted !== 'undisturbed') proxy.cutAt(storeKey(app, key), noted.breaks, noted.forMs);
  const answers = [await execute(behindProxy.url, body, key)];
  const until = Date.now() + FREE_WITHIN_MS;
  // Once more than needed: a repeat of an answered call gets the same answer.
  while (answers.filter(({ status }) => status === 200).length < 2 && Date.now() < until) {
    await delay(REPEAT_MS);
    answers.push(await execute(direct.url, body, key));
  }
  return answers;
}

function execute(url: string, body: string, key?: string): Promise<Answer> {
  const headers = { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) };
  return httpCall(`${url}/rule-server/mock/execute`, { method: 'POST', headers, body });
}

/** What names the note of a call in commands to Redis. */
function storeKey(app: number, key: string): string {
  return `idempotency:${createHash('sha256')
    .update(JSON.stringify([app, null, key]))
    .digest('hex')}`;
}
