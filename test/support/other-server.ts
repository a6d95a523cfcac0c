import { mkdirSync, writeFileSync } from 'node:fs';
import { readdir, readFile, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { every } from '../../src/shared/runtime/upkeep.ts';

const STALE_REQUEST_MS = 120_000;

type Options = { sharedDir: string; clientTimeoutMs: number; app: number };

/** A server of another kind that runs on the same directory, as far as it removes things of one app there. */
export function createOtherServer({ sharedDir, clientTimeoutMs, ...options }: Options) {
  const app = String(options.app);
  // Its register of apps, which no client reads.
  mkdirSync(join(sharedDir, 'apps'), { recursive: true });
  writeFileSync(join(sharedDir, 'apps', `${app}.json`), `{"id":${app}}`);
  const list = (...parts: string[]): Promise<string[]> => readdir(join(sharedDir, ...parts)).catch(() => []);

  /** What such a server does each time its clients' time-out has passed. */
  async function clean(): Promise<void> {
    await cleanClients([], true);
    for (const lane of await list('clients', app, 'lane')) await cleanClients(['lane', lane], false);
    for (const address of await list('mock', app)) await cleanDirectory(address);
  }

  /** Clients that do not beat are taken for dead; of those on the trunk the last one is kept if nobody else is there. */
  async function cleanClients(lane: string[], keepsOne: boolean): Promise<void> {
    const home = ['clients', app, ...lane];
    const beats = (await list(...home)).filter((name) => name.startsWith('b_') && name.endsWith('.json'));
    const dead: string[] = [];
    for (const name of beats) {
      const { lastHeartbeat } = JSON.parse(await readFile(join(sharedDir, ...home, name), 'utf8').catch(() => '{}'));
      if (Date.now() - (lastHeartbeat ?? 0) >= clientTimeoutMs) dead.push(name.slice('b_'.length, -'.json'.length));
    }
    if (keepsOne && dead.length === beats.length) dead.pop();
    for (const address of dead) {
      await rm(join(sharedDir, 'mock', app, address), { recursive: true, force: true });
      await rm(join(sharedDir, ...home, `m_${address}.json`), { force: true });
      await rm(join(sharedDir, ...home, `b_${address}.json`), { force: true });
    }
  }

  async function cleanDirectory(address: string): Promise<void> {
    const path = join(sharedDir, 'mock', app, address);
    for (const name of (await readdir(path).catch(() => [])).filter((name) => name.endsWith('.json'))) {
      const { createAt, executeAt } = await readObject(join(path, name));
      const at = createAt || executeAt;
      if (at && Date.now() - at > STALE_REQUEST_MS) await unlink(join(path, name)).catch(() => {});
    }
    await rmdir(path).catch(() => {}); // it is not empty
    const lanes = (await list('clients', app, 'lane')).map((lane) => ['lane', lane]);
    for (const lane of [[], ...lanes]) {
      if ((await list('clients', app, ...lane)).includes(`b_${address}.json`)) return;
    }
    await rm(path, { recursive: true, force: true });
  }

  return {
    clean,
    /** Cleans again and again until the returned function is called. */
    keepCleaning(everyMs: number): () => Promise<void> {
      const loop = every(everyMs, clean, (error) => {
        queueMicrotask(() => {
          throw error;
        });
      });
      return () => loop.stop();
    },
  };
}

async function readObject(path: string): Promise<{ createAt?: number; executeAt?: number }> {
  try {
    const value = JSON.parse(await readFile(path, 'utf8'));
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
