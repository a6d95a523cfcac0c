import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDice } from '../simulator/search/dice.ts';
import { type Model, models, SETTLED, survivors } from '../support/lost-power.ts';
import { removed } from '../support/mounting.ts';
import { breaksOfService, lacksOfStore } from '../support/power-checks.ts';
import { recordRun, toldBefore } from '../support/power-run.ts';
import { rebuildDisk } from '../support/rebuilt-disk.ts';
import { canRecord, type Journal, readJournal, writeJournal } from '../support/recorded-mount.ts';

/** At so many moments the power fails: a few at every run, at all of them on demand. */
const CUTS = process.env.POWER_CUTS ?? '8';
const SEED = Number(process.env.POWER_SEED ?? Math.floor(Math.random() * 1e9));
/** A run that was recorded before. Without it, the same seed is another run. */
const JOURNAL = process.env.POWER_JOURNAL;
/** A store alone is opened far quicker than a service is started. */
const STORES_PER_SERVICE = 5;
const LOAD_MS = 6000;
/** Far longer than all moments of a run take. */
const ALL_MS = 14_400_000;
/** What one loss of power breaks, others do as well: a few say it. */
const MOST_SAID = 20;

type Loss = { cut: number; model: Model; seed: number };

describe.skipIf(!canRecord)('a loss of power (needs root and python3-fusepy)', () => {
  let journal: Journal = { changes: [], data: Buffer.alloc(0) };
  beforeAll(async () => {
    journal = JOURNAL === undefined ? await recordRun(LOAD_MS) : await readJournal(JOURNAL);
    const flushes = journal.changes.filter(({ op }) => op === 'flush').length;
    const { accepted, keys, taken } = toldBefore(journal, journal.changes.length);
    console.log(`seed ${SEED}: ${journal.changes.length} changes, ${flushes} flushes`);
    console.log(`${accepted.size} accepted, ${keys.size} keys, ${taken.size} taken`);
  });

  it(
    'at any moment: the store knows what was accepted and how it ended, and would run nothing again',
    async () => {
      const losses = someOf(lossesIn(journal), STORES_PER_SERVICE);
      await expectNone(await brokenBy(losses, journal, lacksOfStore, 1), journal);
    },
    ALL_MS,
  );

  it(
    'at any moment: the service ends what was accepted, and hands out nothing that the client had taken',
    async () => {
      const losses = someOf(lossesIn(journal), 1);
      await expectNone(await brokenBy(losses, journal, breaksOfService, 2), journal);
    },
    ALL_MS,
  );

  it('of a disk that does not do what a flush asks for, this test says what is lost', async () => {
    const changes = journal.changes.filter(({ op }) => op !== 'flush');
    const loss: Loss = { cut: changes.length, model: 'flushed-only', seed: SEED };
    const broken = await brokenBy([loss], { ...journal, changes }, lacksOfStore, 1);
    expect(broken.join('\n')).toMatch(/was accepted, and is not known/);
  });
});

/** Right before each flush has ended, and once somewhere between two. */
function lossesIn({ changes }: Journal): Loss[] {
  const dice = createDice(SEED);
  const cuts: number[] = [];
  let last = changes.findLastIndex((change) => change.op === 'mark' && change.text === SETTLED);
  for (const [at, { op }] of changes.entries()) {
    if (op !== 'flush' || at < last) continue;
    if (at - last > 1) cuts.push(dice.whole(last + 1, at - 1));
    cuts.push(at);
    last = at;
  }
  return [...cuts, changes.length].flatMap((cut) => models.map((model) => ({ cut, model, seed: dice.whole(0, 1e9) })));
}

/** As many as are asked for, spread over the whole run, each model as often as the others. */
function someOf(losses: readonly Loss[], times: number): Loss[] {
  const count = CUTS === 'all' ? losses.length : Math.min(Number(CUTS) * times, losses.length);
  const dice = createDice(SEED + times);
  return Array.from({ length: count }, (_, part) => {
    const within = losses.slice(
      Math.floor((part * losses.length) / count),
      Math.floor(((part + 1) * losses.length) / count),
    );
    const ofModel = within.filter(({ model }) => model === models[part % models.length]);
    return dice.pickAny(ofModel) ?? dice.pickAny(within);
  }).filter((loss) => loss !== undefined);
}

type Look = typeof lacksOfStore;

/** What is broken by these losses of power, in sentences. */
async function brokenBy(losses: readonly Loss[], journal: Journal, look: Look, atOnce: number): Promise<string[]> {
  const broken: string[] = [];
  const left = losses[Symbol.iterator]();
  const judgeOneByOne = async () => {
    for (const loss of left) broken.push(...(await brokenByOne(loss, journal, look)));
  };
  await Promise.all(Array.from({ length: atOnce }, judgeOneByOne));
  const each = models.map((name) => `${losses.filter(({ model }) => model === name).length} ${name}`);
  console.log(`${losses.length} losses of power (${each.join(', ')}): ${broken.length} broken`);
  return broken;
}

async function brokenByOne({ cut, model, seed }: Loss, journal: Journal, look: Look): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'rule-server-'));
  try {
    const disk = rebuildDisk(journal, survivors(journal, { cut, model, dice: createDice(seed) }));
    const found = await look(disk, directory, toldBefore(journal, cut)).catch((error) => [String(error)]);
    return found.map((sentence) => `${model}, before change ${cut}, dice ${seed}: ${sentence}`);
  } finally {
    await removed(directory);
  }
}

/** Nothing is broken; or else the run is kept. */
async function expectNone(broken: readonly string[], journal: Journal): Promise<void> {
  if (broken.length > 0) {
    const path = join(await mkdtemp(join(tmpdir(), 'power-loss-')), 'journal');
    await writeJournal(path, journal);
    console.log(`POWER_SEED=${SEED} POWER_CUTS=${CUTS} POWER_JOURNAL=${path} repeats these losses of power`);
  }
  expect(broken.slice(0, MOST_SAID)).toEqual([]);
}
