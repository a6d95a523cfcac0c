import { createProcess, type Process, processName, type Random, randomOf } from '../../../src/shared/ports/process.ts';
import { timeOf } from '../../../src/shared/ports/time.ts';
import type { QueueBackend } from '../../../src/shared/queue/queue-backend.ts';
import { readSettings, type Settings } from '../../../src/shared/runtime/settings/settings.ts';
import { createLogger } from '../../../src/shared/runtime/telemetry/logger.ts';
import { createMetrics } from '../../../src/shared/runtime/telemetry/metrics.ts';
import { noTracing } from '../../../src/shared/runtime/telemetry/tracing.ts';
import { filesOf } from '../../../src/worker/files/ports/files.ts';
import type { Files } from '../../../src/worker/files/ports/operations.ts';
import { createDirectoryParts, createExecutionParts } from '../../../src/worker/process/start.ts';
import { hashOf, type Scheduler } from './scheduler.ts';

export const SHARED = '/shared';

/** What is logged is of no use here. */
const log = createLogger({ level: 'silent', role: 'simulated' });

/** Settings of the service, as text. */
export function settingsOf(given: Record<string, string | number> = {}): Settings {
  return readSettings(Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)])));
}

/** A process of the service in the simulated world: what it reaches, and what it draws. */
export function startProcess(name: string, scheduler: Scheduler, files?: Files, aheadMs = 0): Process {
  const reached = files ? [filesOf.as(files)] : [];
  const own = createProcess(
    processName.as(name),
    timeOf.as(scheduler.timeOf(name)),
    randomOf.as(drawing(name)),
    ...reached,
  );
  scheduler.start(name, { aheadMs, enter: (task) => own.run(task) });
  return own;
}

/** Draws that depend on the name of the process alone. */
function drawing(name: string): Random {
  let drawn = 0;
  const next = () => hashOf(`${name} ${drawn++}`);
  const hex = (digits: number) => {
    let text = '';
    while (text.length < digits) text += next().toString(16).padStart(14, '0');
    return text.slice(0, digits);
  };
  return {
    uuid: () => [8, 4, 4, 4, 12].map(hex).join('-'),
    hex: (bytes) => hex(2 * bytes),
    fraction: () => next() / 2 ** 53,
  };
}

export type WorkerParts = ReturnType<typeof createWorkerParts>;

/** The real parts of a worker. To be called inside its process. */
export function createWorkerParts(settings: Settings, backend: QueueBackend) {
  const options = {
    settings,
    backend,
    sharedDir: SHARED,
    log,
    metrics: createMetrics(),
    tracing: noTracing,
    atStep: () => {},
  };
  const directory = createDirectoryParts(options);
  return { ...directory, ...createExecutionParts(options, directory), log };
}
