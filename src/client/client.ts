import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { watch } from 'chokidar';
import { DATA_FIELD } from '../shared/contract.ts';
import { unless } from '../shared/errno.ts';
import { every } from '../shared/every.ts';
import { type ExactValue, parseExact, RawNumber, stringifyExact } from '../shared/exact-json.ts';

/** The data object of an execution; numbers are kept as they were written. */
export type Data = { [key: string]: ExactValue };

/** What a run produced: the data object afterwards and the trace. Throwing makes the result a failed one. */
export type Run = (request: {
  ruleId: string | null;
  confId: string | null;
  data: Data;
}) => Promise<{ data: Data; process: string }>;

type Options = {
  app: number;
  sharedDir: string;
  run: Run;
  lane?: string;
  address?: string;
  pollMs?: number;
  heartbeatMs?: number;
  onError: (error: unknown) => void;
};

export type RuleClient = { address: string; close(): Promise<void> };

/**
 * A client of the file channel: registers, beats, picks requests up by event and by poll, deletes each before it runs it,
 * and answers with a file that is complete when it appears. `close` waits for what is running and unregisters.
 */
export async function createRuleClient({
  app,
  sharedDir,
  run,
  lane,
  address = newAddress(),
  pollMs = 2000,
  heartbeatMs = 10_000,
  onError,
}: Options): Promise<RuleClient> {
  const home = join(sharedDir, 'clients', String(app), ...(lane === undefined ? [] : ['lane', lane]));
  const mock = join(sharedDir, 'mock', String(app), address);
  const registration = {
    address,
    app,
    lane: lane ?? null,
    dialect: 'rule',
    startTime: Date.now(),
    loadedVersion: 1,
    leafNodes: [],
  };
  const running = new Set<Promise<void>>();
  const taken = new Set<string>();

  await mkdir(home, { recursive: true });
  await mkdir(mock, { recursive: true });
  await replaceFile(join(home, `m_${address}.json`), JSON.stringify(registration));
  await beat();
  const watcher = watch(mock, {
    depth: 0,
    ignoreInitial: true,
    atomic: false,
    followSymlinks: false,
    ignored: (path) => path.startsWith(`${mock}/`),
  });
  watcher.on('raw', (_event, name) => {
    if (typeof name === 'string') pickUp(name);
  });
  watcher.on('error', onError);
  const poll = every(pollMs, lookAround, onError);
  const beats = every(heartbeatMs, beat, onError);
  await lookAround();

  async function beat(): Promise<void> {
    await replaceFile(join(home, `b_${address}.json`), JSON.stringify({ lastHeartbeat: Date.now(), loadedVersion: 1 }));
  }

  async function lookAround(): Promise<void> {
    for (const name of (await readdir(mock).catch(unless('ENOENT'))) ?? []) pickUp(name);
  }

  function pickUp(name: string): void {
    if (!name.endsWith('.json') || name.endsWith('_result.json') || name.startsWith('.') || taken.has(name)) return;
    taken.add(name);
    const execution = execute(name)
      .catch(onError)
      .finally(() => {
        taken.delete(name);
        running.delete(execution);
      });
    running.add(execution);
  }

  async function execute(name: string): Promise<void> {
    const path = join(mock, name);
    const text = await readFile(path, 'utf8').catch(unless('ENOENT'));
    // A request that cannot be deleted was withdrawn, or is somebody else's by now: it must not run.
    if (
      text === undefined ||
      !(await unlink(path).then(
        () => true,
        () => false,
      ))
    )
      return;
    const request = parseExact(text);
    const mockId = textOf(request, 'mockId');
    const executeAt = Date.now();
    const result = await runSafely(request);
    await replaceFile(
      join(mock, `${mockId}_result.json`),
      stringifyExact({ mockId, ...result, executeAt: BigInt(executeAt) }),
    );
  }

  async function runSafely(request: ExactValue) {
    try {
      const input = memberOf(request, DATA_FIELD);
      const data = isData(input) ? input : {};
      const ended = await run({ ruleId: textOf(request, 'ruleId'), confId: textOf(request, 'confId'), data });
      return { success: true, [DATA_FIELD]: ended.data, process: ended.process, error: null };
    } catch (error) {
      return {
        success: false,
        [DATA_FIELD]: {},
        process: null,
        error: error instanceof Error ? error.message : String(error),
      };
    }
  }

  return {
    address,
    async close() {
      await Promise.all([poll.stop(), beats.stop(), watcher.close()]);
      await Promise.all(running);
      await rm(mock, { recursive: true, force: true });
      await rm(join(home, `m_${address}.json`), { force: true });
      await rm(join(home, `b_${address}.json`), { force: true });
    },
  };
}

function newAddress(): string {
  return `${hostname()
    .replace(/[^\w.-]/g, '_')
    .replace(/^\.+/, '')}_${randomBytes(4).toString('hex')}`;
}

/** Readers never see half a file. */
async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.tmp`;
  await writeFile(draft, text);
  await rename(draft, path);
}

function memberOf(value: ExactValue, key: string): ExactValue | undefined {
  return isData(value) ? value[key] : undefined;
}

function textOf(value: ExactValue, key: string): string | null {
  const member = memberOf(value, key);
  if (member === undefined || member === null) return null;
  return typeof member === 'string' ? member : stringifyExact(member);
}

function isData(value: ExactValue | undefined): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RawNumber);
}
