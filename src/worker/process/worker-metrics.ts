import { Counter, Gauge } from 'prom-client';
import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';
import { codes, isFault } from '../../shared/reasons/codes.ts';
import type { Metrics } from '../../shared/runtime/telemetry/metrics.ts';
import type { Noticing } from '../files/watch.ts';
import type { ClientCensus } from './client-census.ts';

type Sources = {
  capacity: number;
  openWaits: () => number;
  takesJobs: () => boolean;
  storeUp: () => boolean;
  fileClockAheadMs: () => number;
  census: ClientCensus;
  byApp: Pick<AppCounts, 'know'>;
  noticing: () => Noticing;
};

/** The gauges and counters of a worker process. */
export function registerWorkerMetrics(metrics: Metrics, sources: Sources) {
  const { capacity, openWaits, takesJobs, storeUp, fileClockAheadMs, census, byApp } = sources;
  const registers = [metrics.registry];
  metrics.gauge('worker_capacity', 'Executions this worker can have at once (WORKER_CONCURRENCY).', () => capacity);
  metrics.gauge('worker_open_waits', 'Executions this worker has.', openWaits);
  metrics.gauge('worker_takes_jobs', 'Whether this worker takes executions; its /readyz says why not.', () =>
    takesJobs() ? 1 : 0,
  );
  metrics.gauge('worker_queue_store_up', 'Whether the queue store answers this worker and takes writes.', () =>
    storeUp() ? 1 : 0,
  );
  metrics.gauge(
    'worker_file_clock_ahead_seconds',
    "How far the clock of the shared directory's file system is ahead of this worker's.",
    () => fileClockAheadMs() / 1000,
  );
  new Gauge({
    name: 'rule_server_clients',
    help: 'Clients of all apps by state; every worker sees the same ones, so take the maximum.',
    labelNames: ['state'],
    registers,
    async collect() {
      for (const [state, count] of Object.entries((await census())?.states ?? {})) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'rule_server_clients_not_picking_up',
    help: 'Clients by app that let requests lie although they are online, of the apps that have clients; every worker sees the same ones, so take the maximum.',
    labelNames: ['app'],
    registers,
    async collect() {
      this.reset();
      for (const [app, count] of (await census())?.notPickingUp ?? []) {
        byApp.know(app);
        this.set({ app }, count);
      }
    },
  });
  registerNoticing(metrics, sources.noticing);
  const findings = new Counter({
    name: 'rule_server_sweep_findings_total',
    help: 'Files of executions, and minutes of claims, that the sweep removed because no worker had.',
    labelNames: ['what'],
    registers,
  });
  for (const what of ['files', 'claim-minutes']) findings.inc({ what }, 0);
  return { swept: (what: 'files' | 'claim-minutes', count: number) => findings.inc({ what }, count) };
}

/** How answers are noticed in this worker's shared directory. */
function registerNoticing(metrics: Metrics, noticing: () => Noticing): void {
  new Gauge({
    name: 'rule_server_worker_directories',
    help: 'Directories with open executions of this worker, by how their answers are noticed: event or listing.',
    labelNames: ['noticed_by'],
    registers: [metrics.registry],
    collect() {
      const { event, listing } = noticing();
      this.set({ noticed_by: 'event' }, event);
      this.set({ noticed_by: 'listing' }, listing);
    },
  });
  metrics.gauge(
    'worker_listing_seconds',
    'How long the slowest of the last listings took, of directories with open executions.',
    () => noticing().listingMs / 1000,
  );
  metrics.gauge(
    'worker_listing_stretch',
    'How many times longer than wanted the gaps between listings are, because listings take too much time; 1: not at all.',
    () => noticing().stretch,
  );
  metrics.gauge(
    'worker_listing_share',
    'The share of the last 10 s that polls of directories took; beyond 0.1 the gaps between them grow.',
    () => noticing().share,
  );
}

/** These tell of an app and its clients. The others tell of the service or of the caller, whatever app was called. */
const OF_THE_APP = new Set<string>([...codes.filter(isFault), 'no-client', 'client-offline']);

type AppCounts = ReturnType<typeof countByApp>;

/** Counts executions by app. Only of apps that have clients: a caller may name any number, and each one is a series. */
export function countByApp({ registry }: Metrics) {
  const executions = new Counter({
    name: 'rule_server_app_executions_total',
    help: 'Executions of the apps that have clients, by app: answered, or unanswered because of its clients or their directory. Each is counted by one worker.',
    labelNames: ['app', 'outcome'],
    registers: [registry],
  });
  const known = new Set<number>();
  /** Prometheus sees an increase only where there was a value before. */
  function know(app: number): void {
    if (known.has(app)) return;
    known.add(app);
    for (const outcome of ['answered', 'unanswered']) executions.inc({ app, outcome }, 0);
  }

  return {
    know,
    /** `reached`: a client of the app was chosen for it. */
    ended({ app, ending }: ExecutionRecord, reached: boolean): void {
      if (reached) know(app);
      if (!known.has(app)) return;
      if (ending === null || ending.code === null) executions.inc({ app, outcome: 'answered' });
      else if (OF_THE_APP.has(ending.code)) executions.inc({ app, outcome: 'unanswered' });
    },
  };
}

/** Counts the clients that were passed over because no request could be written for them. */
export function countPassedOver({ registry }: Metrics): () => void {
  const passedOver = new Counter({
    name: 'rule_server_clients_passed_over_total',
    help: 'How often a client was passed over because no request could be written to its directory.',
    registers: [registry],
  });
  return () => passedOver.inc();
}

/** Counts the results that this worker could not read, once for each time one could not. */
export function countUnreadable({ registry }: Metrics): () => void {
  const unreadable = new Counter({
    name: 'rule_server_unreadable_results_total',
    help: 'How often a result was there and this worker could not read it; it is tried again until the deadline.',
    registers: [registry],
  });
  return () => unreadable.inc();
}
