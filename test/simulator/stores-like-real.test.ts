import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExecutionRecord } from '../../src/shared/contract/execution-record.ts';
import { time } from '../../src/shared/ports/time.ts';
import type { QueueBackend } from '../../src/shared/queue/queue-backend.ts';
import type { History } from '../../src/shared/store/history/history.ts';
import { queueStores } from '../support/queue-stores.ts';

/** So many sequences of so many commands; each on every queue store. */
const [SEQUENCES, COMMANDS] = [20, 40];

/** A queue store that is compared. */
type Subject = { backend: QueueBackend; history: History };

const subjectOf = (backend: QueueBackend): Subject => ({
  backend,
  history: backend.openHistory({ count: 1000, seconds: 3600, bytes: 1e8 }),
});

/** What a command is carried out on. `run` is part of each key, so that sequences do not meet. */
type Context = Subject & { run: number };
type Command = { name: string; on?: 'redis'; carryOut: (context: Context) => Promise<unknown> };

const NAMES = ['a', 'b', 'c'];
const id = fc.constantFrom(...NAMES);
const text = fc.constantFrom('x', 'y', '"é"');
const number = fc.nat(3);
const whole = (name: string, { run }: Context) => `${run}-${name}`;

function record(mockId: string, n: number, { run }: Context): ExecutionRecord {
  const ids = { ruleId: String(run), confId: null, ts: null, target: 'any', keyName: null, address: null };
  const ended = {
    ending: { status: 200, code: null, reason: null, params: {}, mayHaveRun: true },
    outcome: null,
    answeredAt: null,
  };
  const batchId = n === 3 ? 'batch' : null;
  return {
    mockId,
    app: n,
    ...ids,
    batchId,
    state: 'succeeded',
    history: [],
    warnings: [],
    ...ended,
    lateResult: false,
    written: null,
    rules: null,
    ...{ lane: null, error: null, dryRun: false, comparisonId: null, derivedFrom: null },
  };
}

const historyCommands: fc.Arbitrary<Command>[] = [
  fc.tuple(id, number, text).map(([name, n, body]) => ({
    name: `keep ${name} with ${n} and ${body}`,
    carryOut: (context) =>
      context.history.add({
        record: record(whole(name, context), n, context),
        ...{ input: n === 0 ? '' : `{"n":${n}}`, result: { body } },
      }),
  })),
  fc.tuple(id, number, id, text).map(([name, n, key, body]) => ({
    name: `keep ${name} with ${n} and what is in ${key}, ${body} at first`,
    on: 'redis', // the embedded queue leaves it in the store as well
    async carryOut(context) {
      const stored = whole(key, context);
      await context.backend.store.setIfAbsent(stored, body, 60);
      const kept = record(whole(name, context), n, context);
      await context.history.add({ record: kept, input: '', result: { stored } });
      return context.backend.store.get(stored);
    },
  })),
  id.map((name) => ({
    name: `the kept ${name}`,
    carryOut: async (context) => {
      const { history } = context;
      const mockId = whole(name, context);
      const texts = await Promise.all([history.result(mockId), history.input(mockId), history.lateResult(mockId)]);
      const kept = await history.get(mockId);
      return [kept && [kept.app, kept.batchId, kept.lateResult], ...texts];
    },
  })),
  fc.tuple(id, text).map(([name, body]) => ({
    name: `a late result of ${name}, ${body}`,
    carryOut: (context) => context.history.addLateResult(whole(name, context), body),
  })),
  id.map((name) => ({
    name: `${name} was delivered`,
    carryOut: (context) => context.history.delivered(whole(name, context)),
  })),
  id.map((name) => ({
    name: `erase the kept ${name}`,
    carryOut: (context) => context.history.erase(whole(name, context)),
  })),
  fc.tuple(fc.constantFrom(undefined, 'batch'), fc.constantFrom(1, 9)).map(([batchId, limit]) => ({
    name: `list ${limit} of ${batchId}`,
    carryOut: async ({ history, run }) => {
      const { records, nextCursor } = await history.list({ ruleId: String(run), batchId, limit });
      return [records.map(({ mockId }) => mockId).sort(), nextCursor !== null];
    },
  })),
];

/** So that a failure lists names. The first two come more often: they bring things there. */
const named = (command: Command): Command => Object.assign(command, { [fc.toStringMethod]: () => command.name });

const often = historyCommands.slice(0, 2);
const sequences = fc.array(fc.oneof(...historyCommands, ...often, ...often).map(named), {
  minLength: COMMANDS / 2,
  maxLength: COMMANDS,
});

/** One line for each command: what it was and what came of it. */
async function story(commands: readonly Command[], subject: Subject, run: number): Promise<string[]> {
  const context = { ...subject, run };
  const lines: string[] = [];
  for (const command of commands) {
    lines.push(`${command.name}: ${JSON.stringify((await command.carryOut(context)) ?? null)}`);
    if (command.name.startsWith('keep')) await nextMillisecond(); // the order of a list
  }
  return lines;
}

/** A timer may fire a moment early. */
async function nextMillisecond(): Promise<void> {
  for (const now = time.now(); time.now() === now; ) await time.pause(1);
}

let run = 0;

function compare(model: Subject, real: Subject, isEmbedded: boolean) {
  const property = fc.asyncProperty(sequences, async (drawn) => {
    const carriedOut = drawn.filter(({ on }) => on === undefined || !isEmbedded);
    run++;
    const [expected, told] = await Promise.all([real, model].map((subject) => story(carriedOut, subject, run)));
    expect(told).toEqual(expected);
  });
  return fc.assert(property, { numRuns: SEQUENCES, endOnFailure: false, seed: 20 });
}

for (const kind of ['in this process', 'on Redis'] as const)
  describe(`the simulated store does what one ${kind} does`, () => {
    let backends: (QueueBackend | undefined)[] = [];
    beforeAll(async () => {
      backends = await Promise.all([queueStores[kind]?.(), queueStores['in the simulator']?.()]);
    });
    afterAll(async () => void (await Promise.all(backends.map((backend) => backend?.close()))));

    test('history', async ({ skip }) => {
      const [real, model] = backends.map((backend) => backend && subjectOf(backend));
      if (!real || !model) return skip('there is no Redis');
      await compare(model, real, kind === 'in this process');
    });

    test('the workers that take jobs', async ({ skip }) => {
      const [real, model] = backends;
      if (!real || !model) return skip('there is no Redis');
      expect(await registeredWorkers(model)).toEqual(await registeredWorkers(real));
    });
  });

async function registeredWorkers({ workers }: QueueBackend): Promise<unknown[]> {
  const lists = [await workers.list()];
  for (const id of ['one', 'two', 'one']) await workers.announce(id);
  lists.push(await workers.list());
  await workers.withdraw('one');
  await workers.withdraw('nobody');
  return [...lists, await workers.list()].map((ids) => ids.toSorted());
}
