import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  AT_ONCE,
  hangingDirectories,
  limitedByDirectory,
} from '../../../src/worker/files/directory/directory-limit.ts';
import { throughHandle } from '../../../src/worker/files/directory/real-directory.ts';
import { isMarkThere, markOpen } from '../../../src/worker/files/execution-files.ts';
import { quickly } from '../../../src/worker/files/quick-files.ts';
import { nodeFiles } from '../../../src/worker/files/seams/node-files.ts';
import type { QuickFiles } from '../../../src/worker/files/seams/operations.ts';
import { withDeadline } from '../../support/deadline.ts';
import { eventually } from '../../support/eventually.ts';
import { makeSlow } from '../../support/slow-disk.ts';

/** Longer than an operation that counts as quick, and than a directory is taken to be still there. */
const NO_LONGER_SOON_MS = 600;

let root = '';
let made = 0;
const ends: (() => void)[] = [];

/** An operation that does not end until the test does. */
const neverEnds = (begins: () => void) => () => {
  begins();
  const { promise, resolve } = Promise.withResolvers<void>();
  ends.push(resolve);
  return promise;
};

type Operation = () => Promise<void>;

/** The ways in which a worker gets at a client's directory. */
const ways: Record<string, (directory: string, operation: Operation) => Promise<void>> = {
  'by its path, as it is listed': limitedByDirectory,
  'through its handle, as its files are written': (directory, operation) =>
    throughHandle(directory, (path) => quickly(join(path, 'file'), handedOver(operation))),
  'by the path of a file in it': (directory, operation) => quickly(join(directory, 'file'), handedOver(operation)),
};

const handedOver = (operation: Operation) => (files: QuickFiles) => {
  if (files === nodeFiles.atOnce) throw new Error('this file system is slow');
  return operation();
};

async function newDirectory(): Promise<string> {
  const directory = join(root, 'mock/1', `client-${made++}`);
  await mkdir(directory, { recursive: true });
  return directory;
}

const passes = () => new Promise((resolve) => setTimeout(resolve, NO_LONGER_SOON_MS));

describe('operations that do not end in one directory, however it is named', () => {
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'rule-server-'));
    await makeSlow(root);
  });
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  it.each(Object.keys(ways))('two begun %s: no other begins in any way, and it is named once', async (first) => {
    const directory = await newDirectory();
    let running = 0;
    const begins = neverEnds(() => running++);
    const begun: Promise<void>[] = [];
    const begin = (way: string) => {
      for (let operation = 0; operation < AT_ONCE; operation++)
        begun.push(ways[way]?.(directory, begins) ?? Promise.resolve());
    };
    begin(first);
    await eventually(() => expect(running).toBe(AT_ONCE));
    await passes();
    for (const way of Object.keys(ways)) begin(way);
    await passes();
    expect(running).toBe(AT_ONCE);
    await eventually(() => expect(hangingDirectories()).toEqual([directory]), 10_000);
    const releasing = setInterval(() => {
      for (const end of ends.splice(0)) end();
    }, 5);
    await withDeadline(Promise.all(begun), 10_000, 'all operations after the first ones ended');
    clearInterval(releasing);
    expect(running).toBe(begun.length);
  });

  it('many who look at the directory itself before each operation in it: all end', async () => {
    const directory = await newDirectory();
    const files = { directory, mockId: 'a' };
    await markOpen(files);
    await passes();
    const looks = Array.from({ length: 20 }, () =>
      isMarkThere(files)
        .then(passes)
        .then(() => isMarkThere(files)),
    );
    expect(new Set(await withDeadline(Promise.all(looks), 10_000, 'all looks'))).toEqual(new Set([true]));
  });
});
