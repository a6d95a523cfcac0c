import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createProcess } from '../../../src/shared/ports/process.ts';
import { noteFileSystem } from '../../../src/worker/files/file-system.ts';
import { filesOf } from '../../../src/worker/files/ports/files.ts';
import { nodeFiles } from '../../../src/worker/files/ports/node-files.ts';
import type { Files } from '../../../src/worker/files/ports/operations.ts';
import { createResultWatcher, type Sighting } from '../../../src/worker/files/watch.ts';
import { eventually } from '../../support/eventually.ts';
import { captureLog } from '../../support/start-service.ts';

const mockId = '7f3a5c1e-0000-4000-8000-000000000001';
const other = '7f3a5c1e-0000-4000-8000-000000000002';
const RARELY_MS = 60_000;

describe('watching for results', () => {
  it('tells of a result and of a request at once, and only of those of the execution', async () => {
    const { directory, sightings, watch } = await setUp(RARELY_MS);
    watch(mockId);
    await untilArmed(directory, sightings);
    await putResult(directory, other);
    await putResult(directory, mockId);
    await eventually(() => expect(kinds(sightings)).toContain('result-event'));
    await rm(join(directory, `${mockId}_result.json`));
    await writeFile(join(directory, `${mockId}.json`), '{}');
    await eventually(() => expect(kinds(sightings)).toContain('request-event'));
  });

  it('a result that came before the watch was set up is told once it is, though no poll is made', async () => {
    const files: Files = {
      ...nodeFiles,
      readdir: () => new Promise(() => {}),
      watch(directory, told) {
        writeFileSync(join(directory, `${mockId}_result.json`), '{}');
        return nodeFiles.watch(directory, told);
      },
    };
    await createProcess(filesOf.as(files)).run(async () => {
      const { sightings, watch } = await setUp(RARELY_MS);
      watch(mockId);
      await eventually(() => expect(kinds(sightings)).toEqual(['result-event']));
    });
  });

  it('lists a new directory within moments, long before the first poll', async () => {
    const { sightings, watch } = await setUp(RARELY_MS);
    watch(mockId);
    await eventually(() => expect(kinds(sightings)).toContain('listing'), 2000);
  });

  it('a directory that was removed and made again is heard again once a poll found a result that no event told of', async () => {
    const { directory, watcher, sightings, watch } = await setUp(500);
    const sibling = `${directory}.sibling`;
    await mkdir(sibling);
    watcher.watch({ directory: sibling, registration: null }, mockId, (sighting) => sightings.push(sighting));
    await untilArmed(sibling, sightings);
    const stop = watch(mockId);
    await untilArmed(directory, sightings);
    stop();
    await rm(directory, { recursive: true });
    await untilArmed(sibling, sightings); // events come in order: the removal was noticed before
    await mkdir(directory);
    watch(mockId);
    await eventually(() => expect(kinds(sightings)).toContain('listing'));
    await eventually(async () => {
      await putResult(directory, mockId);
      expect(kinds(sightings)).toContain('result-event');
    }, 15_000);
  });

  it('lists again and again: names, or that the directory is gone, or that the client unregistered', async () => {
    const { directory, sightings, watch, registration } = await setUp(50);
    await writeFile(registration, '{}');
    watch(mockId);
    await eventually(() => expect(listings(sightings).at(-1)).toMatchObject({ names: new Set(), registered: true }));
    await writeFile(join(directory, 'x'), '');
    await eventually(() => expect(listings(sightings).at(-1)).toMatchObject({ names: new Set(['x']) }));
    await rm(registration);
    await eventually(() => expect(listings(sightings).at(-1)).toMatchObject({ registered: false }));
    await rm(directory, { recursive: true });
    await eventually(() => expect(listings(sightings).at(-1)).toMatchObject({ names: null }));
  });

  it('looks for the registration the client has now, not for the one it had at first', async () => {
    const { sightings, watch, registration } = await setUp(50);
    const moved = `${registration}.moved`;
    await writeFile(moved, '{}');
    watch(other, registration)();
    watch(mockId, moved);
    await eventually(() => expect(listings(sightings).length).toBeGreaterThan(2));
    expect(listings(sightings).filter(({ registered }) => !registered)).toEqual([]);
  });

  it('counts the executions of others that are open, by their requests and marks as of the last listing', async () => {
    const { directory, sightings, watch, watcher } = await setUp(50);
    await writeFile(join(directory, `${other}.json`), '{}');
    await writeFile(join(directory, `.${other}.open`), '');
    expect(watcher.othersIn(directory)).toBe(0);
    const stop = watch(mockId);
    await eventually(() => expect(watcher.othersIn(directory)).toBe(1));
    const mark = `.${mockId}.open`;
    await writeFile(join(directory, mark), '');
    await eventually(() => expect(listings(sightings).at(-1)?.names).toContain(mark));
    expect(watcher.othersIn(directory)).toBe(1);
    stop();
    expect(watcher.othersIn(directory)).toBe(0);
  });

  it('what has just ended here counts no more, although its files were there at the last listing', async () => {
    const { directory, sightings, watch, watcher } = await setUp(50);
    const ended = ['3', '4', '5'].map((last) => mockId.replace(/.$/, last));
    for (const id of ended) await writeFile(join(directory, `.${id}.open`), '');
    const stops = ended.map((id) => watch(id));
    await eventually(() => expect(listings(sightings).at(-1)?.names?.size).toBe(3));
    for (const stop of stops) stop();
    watch(mockId);
    expect(watcher.othersIn(directory)).toBe(0);
    const before = listings(sightings).length;
    await eventually(() => expect(listings(sightings).length).toBeGreaterThan(before));
    expect(watcher.othersIn(directory)).toBe(0);
  });

  it('a listener that is replaced by the next attempt’s is not removed with the first', async () => {
    const { directory, sightings, watch } = await setUp(50);
    const stopFirst = watch(mockId);
    const stopSecond = watch(mockId);
    stopFirst();
    await eventually(() => expect(kinds(sightings)).toContain('listing'));
    stopSecond();
    sightings.length = 0;
    watch(other);
    await putResult(directory, mockId);
    await eventually(() => expect(kinds(sightings)).toContain('listing'));
    expect(kinds(sightings)).not.toContain('result-event');
  });
});

async function setUp(pollIntervalMs: number) {
  const root = await mkdtemp(join(tmpdir(), 'result-watcher-'));
  const directory = join(root, 'mock/1/client');
  const registration = join(root, 'm_client.json');
  await mkdir(directory, { recursive: true });
  await noteFileSystem(root);
  const watcher = createResultWatcher({ pollIntervalMs, log: captureLog().log });
  onTestFinished(() => watcher.close());
  const sightings: Sighting[] = [];
  const watch = (id: string, path: string | null = registration) =>
    watcher.watch({ directory, registration: path }, id, (sighting) => sightings.push(sighting));
  return { directory, registration, watcher, sightings, watch };
}

/** A watch takes a moment: it is there once a first event came through. */
async function untilArmed(directory: string, sightings: Sighting[]): Promise<void> {
  await eventually(async () => {
    await putResult(directory, mockId);
    expect(kinds(sightings)).toContain('result-event');
  });
  await rm(join(directory, `${mockId}_result.json`));
  sightings.length = 0;
}

async function putResult(directory: string, id: string): Promise<void> {
  await writeFile(join(directory, 'draft'), '{}');
  await rename(join(directory, 'draft'), join(directory, `${id}_result.json`));
}

const kinds = (sightings: Sighting[]) => sightings.map(({ kind }) => kind);
const listings = (sightings: Sighting[]) => sightings.filter((sighting) => sighting.kind === 'listing');
