import fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { TakenJob } from '../../../../src/shared/queue/queue.ts';
import { openEmbedded } from '../../../../src/shared/queue/sqlite/sqlite-backend.ts';
import { openDatabase } from '../../../../src/shared/store/embedded/file/database.ts';

/** What the disk is sure to have: the files as they were when the last flush that is over began. */
const disk = { folder: '', sure: new Map<string, Buffer>(), flushes: 0 };
const { fdatasync } = fs;

beforeAll(() => {
  const observed = (handle: number, done: fs.NoParamCallback) => {
    const image = filesOf(disk.folder);
    fdatasync(handle, (error) => {
      disk.sure = image;
      disk.flushes++;
      done(error);
    });
  };
  fs.fdatasync = Object.assign(observed, { __promisify__: fdatasync.__promisify__ });
  syncBuiltinESMExports();
});
afterAll(() => {
  fs.fdatasync = fdatasync;
  syncBuiltinESMExports();
});

function filesOf(folder: string): Map<string, Buffer> {
  const names = ['store.db', 'store.db-wal'].filter((name) => fs.existsSync(join(folder, name)));
  return new Map(names.map((name) => [name, fs.readFileSync(join(folder, name))]));
}

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'flushes-'));
  disk.folder = join(root, 'store');
  disk.sure = new Map();
  disk.flushes = 0;
  fs.mkdirSync(disk.folder);
});

/** The files after a loss of power: what the disk was sure to have, and of what was written since a part, torn in the middle of a sector. */
function afterLoss(part: number, folder: string): void {
  fs.mkdirSync(folder);
  const now = filesOf(disk.folder);
  // SQLite flushes by itself before and after it carries its log into the file: since then all of it is sure.
  const wasCarried = !now.get('store.db')?.equals(disk.sure.get('store.db') ?? Buffer.alloc(0));
  const sure = wasCarried ? now : disk.sure;
  for (const [name, content] of now) {
    const known = sure.get(name) ?? Buffer.alloc(0);
    const image = Buffer.from(known.length > content.length ? known.subarray(0, content.length) : known);
    const more = content.subarray(image.length);
    const kept = Math.floor(more.length * part);
    fs.writeFileSync(
      join(folder, name),
      Buffer.concat([image, more.subarray(0, kept), Buffer.alloc(Math.min(300, more.length - kept))]),
    );
  }
}

it('at every cut between two flushes, what was told to be there is there, and nothing is there in half', async () => {
  const database = openDatabase({ path: join(disk.folder, 'store.db') });
  await database.write(() => database.statement('CREATE TABLE pair (n INTEGER, half INTEGER, filling TEXT)').run());
  const told = new Set<number>();
  let cuts = 0;
  const put = async (n: number) => {
    await database.write(() => {
      for (const half of [1, 2])
        database.statement('INSERT INTO pair VALUES (?, ?, ?)').run(n, half, 'x'.repeat((n * 37) % 3000));
    });
    told.add(n);
  };
  for (let n = 0; n < 180; n += 3) {
    const writes = [put(n), put(n + 1), put(n + 2)];
    if (n % 7 === 0) await writes[0];
    const promised = [...told];
    const folder = join(root, `cut-${n}`);
    afterLoss((n % 11) / 10, folder);
    const left = openDatabase({ path: join(folder, 'store.db') });
    const rows = await left.read(() => left.statement('SELECT n, COUNT(*) AS halves FROM pair GROUP BY n').all());
    left.close();
    await rm(folder, { recursive: true });
    const found = new Map(rows.map(({ n: number, halves }) => [Number(number), Number(halves)]));
    expect(promised.filter((number) => !found.has(number))).toEqual([]);
    expect([...found.values()].every((halves) => halves === 2)).toBe(true);
    cuts++;
    await Promise.all(writes);
  }
  database.close();
  expect(cuts).toBe(60);
  expect(disk.flushes).toBeGreaterThan(30);
});

it('those who write while a flush is under way share the next one', async () => {
  const database = openDatabase({ path: join(disk.folder, 'store.db') });
  await database.write(() => database.statement('CREATE TABLE one (n INTEGER)').run());
  const before = disk.flushes;
  const writes = Array.from({ length: 100 }, (_, n) =>
    database.write(() => database.statement('INSERT INTO one VALUES (?)').run(n)),
  );
  await Promise.all(writes);
  expect(disk.flushes - before).toBeLessThan(4);
  database.close();
});

it('a commit that fails leaves nothing of its turn, and every operation of it rejects', async () => {
  let refuses = false;
  const database = openDatabase({
    check: () => {
      if (refuses) throw new Error('no room');
    },
  });
  await database.write(() =>
    database
      .statement('CREATE TABLE one (n INTEGER PRIMARY KEY, other INTEGER REFERENCES one DEFERRABLE INITIALLY DEFERRED)')
      .run(),
  );
  const good = database.write(() => database.statement('INSERT INTO one VALUES (1, NULL)').run());
  const bad = database.write(() => database.statement('INSERT INTO one VALUES (2, 99)').run());
  await expect(good).rejects.toThrow('FOREIGN KEY');
  await expect(bad).rejects.toThrow('FOREIGN KEY');
  expect(await database.read(() => database.statement('SELECT * FROM one').all())).toEqual([]);
  refuses = true;
  await expect(database.write(() => database.statement('INSERT INTO one VALUES (3, NULL)').run())).rejects.toThrow(
    'no room',
  );
  refuses = false;
  await database.write(() => database.statement('INSERT INTO one VALUES (4, NULL)').run());
  expect(await database.read(() => database.statement('SELECT n FROM one').all())).toEqual([{ n: 4 }]);
  database.close();
});

it('an operation that throws in the middle leaves nothing, and the others of its turn are kept', async () => {
  const database = openDatabase();
  await database.write(() => database.statement('CREATE TABLE one (n INTEGER)').run());
  const insert = (n: number) => database.statement('INSERT INTO one VALUES (?)').run(n);
  const kept = database.write(() => insert(1));
  const thrown = database.write(() => {
    insert(2);
    throw new Error('in the middle');
  });
  const also = database.write(() => insert(3));
  await expect(thrown).rejects.toThrow('in the middle');
  await Promise.all([kept, also]);
  expect(await database.read(() => database.statement('SELECT n FROM one ORDER BY n').all())).toEqual([
    { n: 1 },
    { n: 3 },
  ]);
  database.close();
});

/** The state of a job on a disk that lost its power at this moment. */
function stateAfterLoss(id: string, folder: string): unknown {
  fs.mkdirSync(folder);
  for (const [name, content] of disk.sure) fs.writeFileSync(join(folder, name), content);
  const left = new DatabaseSync(join(folder, 'store.db'));
  const row = left.prepare('SELECT state FROM job WHERE id = ?').get(id);
  left.close();
  return row?.state;
}

it('a job is processed once it is sure that it was taken; others are taken meanwhile and share the flush', async () => {
  const backend = await openEmbedded(undefined, { folder: disk.folder, flush: true, tell: () => {} });
  const queue = backend.openQueue('q');
  const ids = Array.from({ length: 20 }, (_, n) => `job-${n}`);
  await Promise.all(ids.map((id) => queue.add(id, {})));
  const states: unknown[] = [];
  const flushesAt: number[] = [];
  const begun = Promise.withResolvers<void>();
  const process = async (job: TakenJob) => {
    flushesAt.push(disk.flushes);
    states.push(stateAfterLoss(job.id, join(root, job.id)));
    if (states.length === ids.length) begun.resolve();
    await begun.promise;
    await job.finish(null);
  };
  const before = disk.flushes;
  const worker = backend.openWorker('q', process, { concurrency: ids.length });
  worker.run();
  await begun.promise;
  await worker.close();
  await backend.close();
  expect(states).toEqual(ids.map(() => 'taken'));
  expect(Math.max(...flushesAt) - before).toBeLessThan(ids.length / 2);
});
