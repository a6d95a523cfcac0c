import { mkdir, readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unless } from '../../src/shared/runtime/errno.ts';
import { every } from '../../src/shared/runtime/upkeep.ts';
import { put, resultText } from './responder.ts';

const CHECK_EVERY_MS = 50;
const AT_ONCE = 16;

type Options = { sharedDir: string; app: number; clients: number };

export type Crowd = {
  /** Ids of the requests that were taken, in order; one that was put there twice stands here twice. */
  found: { mockId: string; number: number }[];
  /** Requests that are in the directories now. */
  waiting(): Promise<number>;
  /** From now on every request is taken and answered with its own input. */
  startAnswering(): void;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Many clients of one app, played by one process. They beat once, and do nothing until they are told to answer. */
export async function createCrowd({ sharedDir, app, clients }: Options): Promise<Crowd> {
  const home = join(sharedDir, 'clients', String(app));
  const directories = Array.from({ length: clients }, (_, at) => join(sharedDir, 'mock', String(app), `crowd_${at}`));
  await mkdir(home, { recursive: true });
  await eachOf(directories.keys(), async (at) => {
    const [address, now] = [`crowd_${at}`, Date.now()];
    await mkdir(join(sharedDir, 'mock', String(app), address), { recursive: true });
    await writeFile(
      join(home, `m_${address}.json`),
      JSON.stringify({ address, app, dialect: 'rule', startTime: now, loadedVersion: 1 }),
    );
    await writeFile(join(home, `b_${address}.json`), JSON.stringify({ lastHeartbeat: now, loadedVersion: 1 }));
  });

  const found: Crowd['found'] = [];
  let looks: { stop(): Promise<void> } | undefined;

  const answerAll = () =>
    eachOf(directories.values(), async (directory) => {
      await eachOf((await requestsIn(directory)).values(), (mockId) => answer(directory, mockId));
    });

  async function answer(directory: string, mockId: string): Promise<void> {
    const path = join(directory, `${mockId}.json`);
    const text = await readFile(path, 'utf8').catch(unless('ENOENT'));
    if (text === undefined || !(await unlink(path).then(() => true, unless('ENOENT')))) return;
    const data = JSON.parse(text)['the service'];
    found.push({ mockId, number: data.number });
    const result = resultText({ mockId }, { 'the service': data });
    await put(join(directory, `${mockId}_result.json`), result);
  }

  return {
    found,
    async waiting() {
      let count = 0;
      await eachOf(directories.values(), async (directory) => {
        const requests = await requestsIn(directory);
        count += requests.length;
      });
      return count;
    },
    startAnswering() {
      looks = every(CHECK_EVERY_MS, answerAll, (error) => {
        throw error;
      });
    },
    [Symbol.asyncDispose]: async () => looks?.stop(),
  };
}

async function requestsIn(directory: string): Promise<string[]> {
  const names = await readdir(directory);
  return names.filter((name) => /^[\w-]+(?<!_result)\.json$/.test(name)).map((name) => name.slice(0, -'.json'.length));
}

/** A few at a time: a machine has fewer file handles than a crowd has files. */
async function eachOf<T>(items: IterableIterator<T>, task: (item: T) => Promise<void>): Promise<void> {
  const lane = async () => {
    for (const item of items) await task(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
