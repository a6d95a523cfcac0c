import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { onOneQueue } from '../support/on-each-queue.ts';
import {
  answers,
  answersAfter,
  answersWith,
  answersWithDirectory,
  answersWithLinkTo,
  answersWithoutPickingUp,
  answersWithPipe,
  type Behaviour,
  createResponder,
  createsFirstAndFillsAfter,
  errs,
  picksUpAndStaysSilent,
  type Responder,
  removesItsDirectoryAfterPickUp,
  staysSilent,
} from '../support/responder.ts';
import { sweepLater } from '../support/sweep-later.ts';

vi.setConfig({ testTimeout: 180_000 });

const SECONDS = 6;
/** A busy machine gets as long as it needs to run enough rules. */
const MOST_SECONDS = 60;
const ENOUGH = 60;
const behaviours: Behaviour[] = [
  ...[answers(), answers(), answers(), errs('no such leaf'), answersAfter(50), answersAfter(300)],
  ...[staysSilent, picksUpAndStaysSilent, answersWithoutPickingUp, removesItsDirectoryAfterPickUp],
  ...[answersWith('null'), answersWith(''), answersWith('{"succ'), createsFirstAndFillsAfter(300)],
  ...[answersWithPipe, answersWithDirectory, answersWithLinkTo('/etc/passwd')],
  answersWith(Buffer.alloc(9 * 1024 * 1024)),
  answers({ 'the service': { large: 'x'.repeat(300_000) } }),
];
const kinds = ['rule', 'python', 'go', 'directory'] as const;
/** Every ending a call can have here. What nobody can explain is not among them. */
const ENDINGS =
  /^(200 |502 invalid-result|503 (no-client|client-offline|overloaded)|504 (no-answer|not-picked-up|client-left))$/;

onOneQueue('a crowd of clients, callers and workers that come and go', (start) => {
  it('every call ends in a way that can be explained, no rule is sent twice, and nothing is left', async () => {
    const seed = Date.now() % 1_000_000;
    const random = randomFrom(seed);
    const pick = <T>(all: readonly T[]): T => {
      const one = all[Math.floor(random() * all.length)];
      if (one === undefined) throw new Error('nothing to pick from');
      return one;
    };
    await using service = await start({
      workers: 2,
      apis: 2,
      leavesFiles: true, // what a client writes after its execution ended is left to the sweep
      settings: { RESULT_TIMEOUT_MS: 2500, POLL_INTERVAL_MS: 250, MAX_WAITS_PER_CLIENT: 20 },
    });
    const { sharedDir, urls } = service;
    const startedAt = Date.now();
    const goesOn = () => {
      const ran = played.concat(gone).reduce((sum, client) => sum + client.found.length, 0);
      return Date.now() < startedAt + (ran > ENOUGH ? SECONDS : MOST_SECONDS) * 1000;
    };
    const endings = new Map<string, number>();
    const played: Responder[] = [];
    const gone: Responder[] = [];

    const play = async (number: number) => {
      const lane = number % 3 === 1 ? { lane: 'blue' } : {};
      const client = await createResponder({
        ...{ sharedDir, app: 1 + (number % 3), address: `client-${number}`, as: pick(kinds), ...lane },
        // What it wanted to do may have become impossible: the request withdrawn, its directory gone.
        does: (request, self) => Promise.resolve(pick(behaviours)(request, self)).catch(() => {}),
      });
      played.push(client);
      return client;
    };
    const callAgainAndAgain = async () => {
      while (goesOn()) {
        const caller = new AbortController();
        const hangsUp = random() < 0.15 ? setTimeout(() => caller.abort(), random() * 800) : undefined;
        const target = pick(['all', 'all', 'lane:blue', `address:client-${Math.floor(random() * 12)}`]);
        const answer = await service
          .execute({ app: 1 + Math.floor(random() * 4), ruleId: 1, target }, { signal: caller.signal, url: pick(urls) })
          .catch((error: Error) => error);
        clearTimeout(hangsUp);
        const ending = answer instanceof Error ? answer.name : `${answer.status} ${answer.json.code ?? ''}`;
        endings.set(ending, (endings.get(ending) ?? 0) + 1);
        await delay(random() * 20);
      }
    };
    const comeAndGo = async () => {
      for (let number = 8; goesOn(); number++) {
        await delay(1500);
        await service.addWorker();
        await service.workers.shift()?.stop();
        const [leaves] = played.splice(0, 1);
        if (leaves) gone.push(leaves);
        await leaves?.stop();
        if (random() < 0.5) await leaves?.unregister().then(leaves.removeDirectory);
        await play(number);
      }
    };

    await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(play));
    await Promise.all([...Array.from({ length: 40 }, callAgainAndAgain), comeAndGo()]);
    await Promise.all(played.map((client) => client.stop()));
    const unexplained = [...endings].filter(([ending]) => ending !== 'AbortError' && !ENDINGS.test(ending));
    expect({ seed, unexplained }).toEqual({ seed, unexplained: [] });
    const found = [...played, ...gone].flatMap((client) => client.found.map(({ mockId }) => mockId));
    expect({ seed, twice: found.length - new Set(found).size }).toEqual({ seed, twice: 0 });
    expect(found.length).toBeGreaterThan(ENOUGH);
    await sweepLater(sharedDir);
    expect(await service.leftovers()).toEqual([]);
  });
});

/** Mulberry32: the same seed, the same numbers. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
