import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createThrottledAlert } from '../../../src/shared/runtime/telemetry/logger.ts';
import { createMemoryDirectory } from '../../../src/shared/store/registered-directory.ts';
import { createInterrupts } from '../../../src/worker/execution/execution.ts';
import { createSharedDirectory, type SharedDirectory } from '../../../src/worker/files/shared-directory.ts';
import { createDirectoryCheck } from '../../../src/worker/process/check-directory.ts';
import { withDeadline } from '../../support/deadline.ts';
import { captureLog } from '../../support/start-service.ts';

const run = promisify(execFile);

it('a shared directory that hangs just while it is checked: open executions are handed over all the same', async () => {
  const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
  await mkdir(join(sharedDir, 'mock'));
  const { log } = captureLog();
  const interrupts = createInterrupts();
  const told: string[] = [];
  interrupts.listen('one', (interrupt) => told.push(interrupt));
  const directory = createDirectoryCheck({
    worker: { run: () => {}, pause: async () => {} },
    announce: async () => {},
    sharedDirectory: createSharedDirectory({ sharedDir, registered: createMemoryDirectory() }),
    interrupts,
    threads: async () => {},
    storeAlert: createThrottledAlert(log, 'The queue store cannot be used'),
    log,
  });
  await directory.check();
  expect(directory.state().takesJobs).toBe(true);

  // A pipe is read once for each time that it is written; the next reader waits as it would for a file server.
  const idPath = join(sharedDir, '.rule-server/id');
  const id = await readFile(idPath, 'utf8');
  await rm(idPath);
  await run('mkfifo', [idPath]);
  const readOnce = writeFile(idPath, id);
  await withDeadline(directory.check(), 20_000, 'a check of a directory that hangs');
  await readOnce;
  expect(directory.state()).toMatchObject({ takesJobs: false, reason: expect.stringMatching(/does not respond/) });
  expect(told).toEqual(['handover']);

  const pipe = await open(idPath, 'r+'); // lets the readers go on
  await rm(idPath);
  await pipe.close();
  await writeFile(idPath, id);
  await expect.poll(() => directory.check().then(() => directory.state().takesJobs), { timeout: 60_000 }).toBe(true);
});

describe('a worker whose threads are busy', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('waits for its turn at the directory', async () => {
    const look = Promise.withResolvers<boolean>();
    const { directory, paused } = openBusyCheck(look.promise, 1000);
    const checked = directory.check();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(directory.state().reason).toBe('starting');
    look.resolve(true);
    await vi.advanceTimersByTimeAsync(2000); // what it asks the threads is done after one
    await checked;
    expect([directory.state().takesJobs, paused()]).toEqual([true, 0]);
  });

  it.each([
    { which: 'that are busy for half a minute', turnMs: 1000, withinMs: 36_000 },
    { which: 'that all hang', turnMs: 1_000_000, withinMs: 9000 },
    { which: 'that are free', turnMs: 10, withinMs: 4000 },
  ])('does not wait for ever: threads $which', async ({ turnMs, withinMs }) => {
    const { directory } = openBusyCheck(new Promise(() => {}), turnMs);
    const checked = directory.check();
    await vi.advanceTimersByTimeAsync(withinMs);
    await checked;
    expect(directory.state().reason).toMatch(/does not respond/);
  });
});

/** `turnMs`: how long a task waits for a thread. */
function openBusyCheck(look: Promise<boolean>, turnMs: number) {
  const { log } = captureLog();
  const pause = vi.fn(async () => {});
  const sharedDirectory: Partial<SharedDirectory> = {
    sharedDir: '',
    isThere: () => look,
    check: async () => {},
    isReplaceable: () => false,
    whyFull: () => null,
  };
  const directory = createDirectoryCheck({
    worker: { run: () => {}, pause },
    announce: async () => {},
    sharedDirectory: sharedDirectory as SharedDirectory,
    interrupts: createInterrupts(),
    threads: () => new Promise((resolve) => setTimeout(resolve, turnMs)),
    storeAlert: createThrottledAlert(log, 'The queue store cannot be used'),
    log,
  });
  return { directory, paused: () => pause.mock.calls.length };
}

it('an id that the machine lost while it was written is written again', async () => {
  const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
  await mkdir(join(sharedDir, 'mock'));
  await mkdir(join(sharedDir, '.rule-server'), { mode: 0o700 });
  const idPath = join(sharedDir, '.rule-server/id');
  await writeFile(idPath, '');
  const directory = createSharedDirectory({ sharedDir, registered: createMemoryDirectory() });
  await directory.check();
  expect(await directory.isThere()).toBe(true);
  expect(await readFile(idPath, 'utf8')).toMatch(/^[\w-]{36}$/);
});
