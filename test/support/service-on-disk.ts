import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { callsAt } from './calls-at.ts';
import { freePort } from './free-port.ts';
import { answersAfter, createResponder, type Responder } from './responder.ts';
import { type ServiceProcess, startWholeProcess } from './start-process.ts';

const APP = 7;
const SETTINGS = { EMBEDDED_STORE: 'disk', HISTORY_COUNT: 100_000, QUEUE_TIMEOUT_MS: 5000, LOG_LEVEL: 'info' };

type Options = { afterMs: number; settings: Record<string, string | number> };

/** For each test a shared directory, a client that answers after a while, and the service in one process once it is started. */
export function serviceOnDisk({ afterMs, settings }: Options) {
  let [sharedDir, port] = ['', 0];
  let service: ServiceProcess;
  let responder: Responder;
  const playClient = async () => {
    responder = await createResponder({ sharedDir, app: APP, does: answersAfter(afterMs) });
  };
  beforeEach(async () => {
    sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
    await mkdir(join(sharedDir, 'mock'));
    port = await freePort();
    await playClient();
  });
  afterEach(async () => {
    await service?.kill();
    await responder.stop();
  });
  const calls = callsAt(() => port, APP);
  const start = async (untilReady = true) => {
    service = await startWholeProcess({ sharedDir, port, settings: { ...SETTINGS, ...settings }, untilReady });
  };
  return {
    ...calls,
    ...{ start, playClient },
    /** Also that it listens: the worker takes jobs a moment earlier. */
    async startAndListen() {
      await start();
      await calls.listens();
    },
    get sharedDir() {
      return sharedDir;
    },
    get service() {
      return service;
    },
    get responder() {
      return responder;
    },
  };
}
