import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unless } from '../../src/shared/runtime/errno.ts';
import { isOurFile, MADE_BY_US } from '../../src/worker/files/file-names.ts';
import {
  type ApiProcess,
  type Fault,
  type LogLine,
  type ServiceProcess,
  startApiProcess,
  startWorkerProcess,
} from './start-process.ts';

type Settings = Record<string, string | number>;
type Options = {
  queueUrl: string;
  apis?: number;
  workers?: number;
  settings?: Settings;
};

export type Processes = {
  sharedDir: string;
  apis: ApiProcess[];
  workers: ServiceProcess[];
  addApi(options?: { untilReady?: boolean; settings?: Settings }): Promise<ApiProcess>;
  addWorker(options?: {
    fault?: Fault;
    under?: string[];
    untilReady?: boolean;
    settings?: Settings;
  }): Promise<ServiceProcess>;
  /** The first API. */
  api: ApiProcess;
  /** Log lines of all processes from warnings up, except that the directory is new: it always is. */
  warnings(): LogLine[];
  /** What processes wrote besides their logs: the traces of crashes. */
  noise(): string[];
  /** What is in the shared directory that belongs to an execution. */
  leftovers(): Promise<string[]>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** The service as it is deployed: each API and worker a process of its own, on one queue and one shared directory. */
export async function startProcesses({ queueUrl, apis = 1, workers = 1, settings = {} }: Options): Promise<Processes> {
  const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
  await mkdir(join(sharedDir, 'mock'));
  const started = { apis: [] as ApiProcess[], workers: [] as ServiceProcess[] };
  const all = () => [...started.apis, ...started.workers];

  const processes: Processes = {
    sharedDir,
    ...started,
    async addApi({ settings: more = {}, ...options } = {}) {
      const api = await startApiProcess({ queueUrl, ...options, settings: { ...settings, ...more } });
      started.apis.push(api);
      return api;
    },
    async addWorker({ settings: more = {}, ...options } = {}) {
      const worker = await startWorkerProcess({ queueUrl, sharedDir, ...options, settings: { ...settings, ...more } });
      started.workers.push(worker);
      return worker;
    },
    get api() {
      const [first] = started.apis;
      if (!first) throw new Error('there is no API');
      return first;
    },
    warnings: () =>
      all().flatMap(({ log }) =>
        log.filter(({ level, msg }) => level >= 40 && !msg.startsWith('SHARED_DIR had no identity')),
      ),
    noise: () => all().flatMap(({ noise }) => noise),
    leftovers: () => leftoversIn(join(sharedDir, 'mock')),
    async [Symbol.asyncDispose]() {
      await Promise.all(all().map((each) => each.kill()));
      await rm(sharedDir, { recursive: true, force: true });
    },
  };
  await Promise.all([
    ...Array.from({ length: apis }, () => processes.addApi()),
    ...Array.from({ length: workers }, () => processes.addWorker()),
  ]);
  return processes;
}

async function leftoversIn(mock: string): Promise<string[]> {
  const entries = (await readdir(mock, { recursive: true, withFileTypes: true }).catch(unless('ENOENT'))) ?? [];
  return entries.filter(({ name }) => isOurFile(name) || name === MADE_BY_US).map(({ name }) => name);
}
