import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type ExecutionRecord, timingsOf } from '../../contract/execution-record.ts';
import { type Code, codes, outcomes } from '../../reasons/codes.ts';

/** From a quick client on this machine to one that takes its whole minute. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Gauges of prom-client with the names of counters. They are also there by kind, under right names. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * The metrics of a process for Prometheus. One registry per process, also when API and worker share it. Labels come from short
 * lists of our own, and the apps that have clients: never an address or an id.
 */
export function createMetrics({ ofProcess = false } = {}) {
  const registry = new Registry();
  const registers = [registry];
  if (ofProcess) {
    collectDefaultMetrics({ register: registry }); // memory, CPU, event-loop lag
    for (const name of MISNAMED) registry.removeSingleMetric(name);
  }

  const executions = new Counter({
    name: 'rule_server_executions_total',
    help: 'Executions that ended, by end state and code (answered: the client answered). Each is counted by one process.',
    labelNames: ['state', 'code'],
    registers,
  });
  // Initialised to 0, because Prometheus sees an increase only from an earlier value.
  for (const code of codes) executions.inc({ state: outcomes[code].state, code }, 0);
  for (const state of ['succeeded', 'failed']) executions.inc({ state, code: 'answered' }, 0);
  const phases = new Histogram({
    name: 'rule_server_execution_phase_seconds',
    help: 'Where the time of executions went: queued, pick-up (waiting for the client), running, noticing (the answer).',
    labelNames: ['phase'],
    buckets: SECONDS,
    registers,
  });

  const fences = new Counter({
    name: 'rule_server_fences_total',
    help: 'Executions under an Idempotency-Key that were on no queue and in no history when they were asked for again, by what a worker said: fenced (they cannot begin any more), claimed (begun already), unknown (no worker could tell).',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['fenced', 'claimed', 'unknown']) fences.inc({ outcome }, 0);

  return {
    registry,
    /** A gauge that is read at each scrape; if reading fails, it is missing in that scrape. */
    gauge(name: string, help: string, read: () => number | Promise<number>): void {
      new Gauge({
        name: `rule_server_${name}`,
        help,
        registers,
        async collect() {
          this.set(await read());
        },
      });
    },
    /** An execution ended here. */
    ended(record: ExecutionRecord): void {
      executions.inc({ state: record.state, code: record.ending?.code ?? 'answered' });
      const { queued, pickUp, running, noticing } = timingsOf(record);
      for (const [phase, ms] of Object.entries({ queued, 'pick-up': pickUp, running, noticing })) {
        if (ms !== null) phases.observe({ phase }, ms / 1000);
      }
    },
    /** A worker was asked to fence an execution. */
    fenced(outcome: 'fenced' | 'claimed' | 'unknown'): void {
      fences.inc({ outcome });
    },
    /** A call was refused before it became an execution. */
    refused(code: Code): void {
      executions.inc({ state: outcomes[code].state, code });
    },
  };
}
