import { Counter } from 'prom-client';
import { type Verdict, verdicts } from '../../shared/cases/verdict.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';

/** Counts what becomes of the items of batches, and how often one could not go on. */
export function registerBatchMetrics(metrics: Metrics, running: () => number) {
  const registers = [metrics.registry];
  metrics.gauge('batches_running', 'Batches this worker runs.', running);
  const items = new Counter({
    name: 'rule_server_batch_items_total',
    help: 'Items of batches that got their verdict. Each is counted by one worker.',
    labelNames: ['verdict'],
    registers,
  });
  for (const verdict of verdicts) if (verdict !== 'pending') items.inc({ verdict }, 0);
  const faults = new Counter({
    name: 'rule_server_batch_faults_total',
    help: 'How often a batch could not go on and was given back to be tried again.',
    registers,
  });
  return { settled: (verdict: Verdict) => items.inc({ verdict }), failed: () => faults.inc() };
}
