// The worker as `rule-server worker` starts it, but it dies or falls asleep once at a given step of an execution.
import { writeSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { userInfo } from 'node:os';
import type { Fault } from './start-process.ts';

// As bin/rule-server.js does: what is loaded below is compiled once for all tests.
enableCompileCache(`${userInfo().homedir}/.cache/rule-server`);
const { queueUrlOf, readSettings } = await import('../../src/shared/runtime/settings/settings.ts');
const { createLogger } = await import('../../src/shared/runtime/telemetry/logger.ts');
const { openQueueBackend } = await import('../../src/shared/queue/open-queue-backend.ts');
const { startWorker } = await import('../../src/worker/process/start.ts');

const fault: Fault = JSON.parse(process.argv[2] ?? '');
const settings = readSettings(process.env);
const log = createLogger({ level: settings.LOG_LEVEL, role: 'worker' });
const backend = await openQueueBackend(queueUrlOf(settings));
let happened = false;

const worker = await startWorker({
  settings,
  backend,
  log,
  sharedDir: settings.SHARED_DIR ?? '',
  atStep(step, mockId) {
    if (happened || step !== fault.step) return;
    happened = true;
    // Written past the logger, which may not get to write any more.
    writeSync(1, `${JSON.stringify({ level: 30, msg: 'the fault happens', mockId })}\n`);
    process.kill(process.pid, fault.signal);
  },
});
log.info(worker.state(), 'the worker runs');

process.on('SIGTERM', () => void worker.stop().then(() => process.exit(0)));
