import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openEvents } from '../../../src/worker/files/directory/directory-events.ts';
import { newlyWatched } from '../../../src/worker/files/directory/watched-directory.ts';
import { eventually } from '../../support/eventually.ts';
import { captureLog } from '../../support/start-service.ts';

const MANY = 200;
const EVENTS = 600;
const ROUNDS = 4;

describe('events of watched directories', () => {
  it('cost the same after many other directories were watched and left', async () => {
    const root = await mkdtemp(join(tmpdir(), 'rule-server-events-'));
    const events = openEvents(1000, captureLog().log);
    onTestFinished(async () => {
      await events.close();
      await rm(root, { recursive: true });
    });
    const watched = await begin(root, 'busy');
    events.add(watched);
    await eventually(async () => {
      await writeFile(join(watched.directory, 'x'), '');
      expect(watched.heardAt).toBeGreaterThan(0);
    });

    const before = await leastCost();
    const left = await Promise.all(Array.from({ length: MANY }, (_, number) => begin(root, `left-${number}`)));
    for (const one of left) events.add(one);
    await eventually(() => Promise.all(left.map(hears)), 20_000);
    await Promise.all(left.map(({ directory }) => events.drop(directory)));
    const after = await leastCost();
    expect(after / before).toBeLessThan(4);

    /** What else this process does meanwhile makes some rounds dearer, never cheaper. */
    async function leastCost(): Promise<number> {
      let least = Number.POSITIVE_INFINITY;
      for (let round = 0; round < ROUNDS; round += 1) least = Math.min(least, await costOfEvents());
      return least;
    }

    /** Renames cost the same each time: what differs is what hearing of them costs. In µs of CPU. */
    async function costOfEvents(): Promise<number> {
      const from = process.cpuUsage();
      for (let count = 0; count < EVENTS; count += 2) {
        await rename(join(watched.directory, 'x'), join(watched.directory, 'y'));
        await rename(join(watched.directory, 'y'), join(watched.directory, 'x'));
      }
      watched.heardAt = 0;
      await writeFile(join(watched.directory, 'last'), '');
      await eventually(() => expect(watched.heardAt).toBeGreaterThan(0));
      const { user, system } = process.cpuUsage(from);
      return user + system;
    }
  });
});

async function begin(root: string, name: string) {
  const directory = join(root, name);
  await mkdir(directory);
  return newlyWatched({ directory, registration: null });
}

async function hears(watched: Awaited<ReturnType<typeof begin>>): Promise<void> {
  await writeFile(join(watched.directory, 'x'), '');
  expect(watched.heardAt).toBeGreaterThan(0);
}
