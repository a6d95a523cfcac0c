import { afterEach, describe, expect, it } from 'vitest';
import { createProcess } from '../../../src/shared/seams/process.ts';
import { hangingDirectories, limitedByDirectory } from '../../../src/worker/files/directory/directory-limit.ts';
import { noteRoot } from '../../../src/worker/files/mounts.ts';
import { filesOf } from '../../../src/worker/files/seams/files.ts';
import { nodeFiles } from '../../../src/worker/files/seams/node-files.ts';
import { eventually } from '../../support/eventually.ts';

const SOON_IS_OVER_MS = 300;

describe('how many file operations of one directory run at a time', () => {
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends) end();
  });

  /** Begins so many operations that do not end; resolves to how many of them run. */
  async function begin(directory: string, count: number): Promise<() => number> {
    let running = 0;
    for (let operation = 0; operation < count; operation++) {
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.push(resolve);
      void limitedByDirectory(directory, () => {
        running++;
        return promise;
      });
    }
    await Promise.resolve();
    return () => running;
  }

  it('eight as long as they end soon, in the order they came, and the next when one ends', async () => {
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 30 }, (_, number) =>
        limitedByDirectory('/quick', async () => {
          order.push(number);
        }),
      ),
    );
    expect(order).toEqual(Array.from({ length: 30 }, (_, number) => number));
    expect((await begin('/quick', 20))()).toBe(8);
  });

  it('one that hangs gets no more, also when others of it end, and is named', async () => {
    const runs = await begin('/hangs', 2);
    await new Promise((resolve) => setTimeout(resolve, SOON_IS_OVER_MS));
    const later = await begin('/hangs', 5);
    expect([runs(), later()]).toEqual([2, 0]);
    await eventually(() => expect(hangingDirectories()).toContain('/hangs'), 5000);
    for (const end of ends.splice(0)) end();
    await eventually(() => expect(later()).toBe(5));
  });

  it('many directories that begin to hang together: each has two, and all of them 16 more', async () => {
    const runs = await Promise.all(Array.from({ length: 24 }, (_, number) => begin(`/many-${number}`, 8)));
    const counts = runs.map((running) => running());
    expect(Math.min(...counts)).toBe(2);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(24 * 2 + 16);
  });

  it('many directories of one mount that hangs leave threads for the others: the mount has sixteen, and they keep theirs', async () => {
    const mountList = () => '36 35 0:44 / /real/mock/1 rw - fuse.sshfs host:/ rw\n';
    const worker = createProcess(filesOf.as({ ...nodeFiles, mountList }));
    await worker.run(async () => {
      noteRoot('/shared', '/real');
      const mounted = await Promise.all(Array.from({ length: 40 }, (_, at) => begin(`/shared/mock/1/client-${at}`, 2)));
      const elsewhere = await begin('/shared/mock/2/client', 2);
      expect(mounted.reduce((sum, running) => sum + running(), 0)).toBe(16);
      expect(elsewhere()).toBe(2);
    });
  });
});
