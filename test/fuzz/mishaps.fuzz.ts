import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { Answer } from '../support/http-call.ts';
import { privateLeftovers } from '../support/private-leftovers.ts';
import { sweepLater } from '../support/sweep-later.ts';
import { MAY_BE_GONE_MS, type Mishaps, mishaps } from './mishap.ts';
import { type MishapWorld, startMishapWorld } from './mishap-world.ts';
import { type MishapEnd, playMishaps } from './play-mishaps.ts';
import { unsound } from './sound-answer.ts';
import { isFull, tryCases } from './try-cases.ts';

const FOR_MS = isFull ? 300_000 : 20_000;
const isLinux = process.platform === 'linux';

describe.skipIf(!inject('hasRedisBinary') || !isLinux)('small trouble', () => {
  const worlds: MishapWorld[] = [];
  beforeAll(async () => {
    for (let count = 0; count < 2; count++) worlds.push(await startMishapWorld());
  });
  afterAll(async () => {
    for (const world of worlds) await world[Symbol.asyncDispose]();
  });

  it('costs no caller the answer: results that cannot be read yet, a client nobody may write to, a registration that is away for a moment, a connection that breaks under a key', () =>
    tryCases('scenarios of small trouble', mishaps, tryMishaps, {
      served: true,
      runs: 9999,
      lanes: worlds.length,
      forMs: FOR_MS,
    }));

  it('leaves nothing behind', async () => {
    for (const { processes } of worlds) {
      await sweepLater(processes.sharedDir);
      expect(await processes.leftovers()).toEqual([]);
      expect(await privateLeftovers(processes.sharedDir)).toEqual([]);
      expect(processes.noise()).toEqual([]);
    }
  });

  async function tryMishaps(planned: Mishaps, lane: number): Promise<void> {
    const world = worlds[lane];
    if (!world) throw new Error('there is no such world');
    const ends = await playMishaps(world, planned);
    expect(
      ends.flatMap((end) => problemsOf(end, world.secrets).map((problem) => `call ${end.app}: ${problem}`)),
    ).toEqual([]);
    await eventually(async () => expect(await world.processes.leftovers()).toEqual([]), 40_000);
  }
});

function problemsOf(end: MishapEnd, secrets: string[]): string[] {
  const { answers, client, plan } = end;
  const problems = answers.flatMap((answer) => unsound('execute', answer, secrets));
  if (client.found.length > 1) problems.push(`dispatched ${client.found.length} times`);
  const last = answers.at(-1);
  if (last && mayHaveSeemedGone(end, last)) return problems;
  if (last?.status !== 200) problems.push(`no answer: ${last?.status} ${last?.text}`);
  else if (!last.text.includes(`"exact":${end.exact}}`)) problems.push(`got another answer than its own: ${last.text}`);
  if (new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text)).size > 1)
    problems.push('one key, two answers');
  const early = answers.find(({ status }) => status !== 200);
  if (early && (plan.noted === null || !isRefusal(early))) problems.push(`was told: ${early.status} ${early.text}`);
  return problems;
}

/** On a machine with much to do the registration was away for longer than planned. */
function mayHaveSeemedGone({ client }: MishapEnd, { json }: Answer): boolean {
  return json?.code === 'client-left' && client.awayMs > MAY_BE_GONE_MS;
}

/** Says what is known of the execution, and to try again. */
function isRefusal({ status, json }: Answer): boolean {
  return status === 503 && typeof json.code === 'string' && typeof json.mayHaveRun === 'boolean' && 'mockId' in json;
}
