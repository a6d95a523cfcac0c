import { setTimeout as sleep } from 'node:timers/promises';
import { context, metrics, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Data } from '../../src/client/client.ts';
import { createClientFiles } from './support/client-files.ts';

const spans = new InMemorySpanExporter();
const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
let reader: PeriodicExportingMetricReader;
let files: Awaited<ReturnType<typeof createClientFiles>>;
beforeEach(async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] }));
  reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 3_600_000 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  files = await createClientFiles();
  await files.rule(1, '"confId":1');
  await files.node(1, '"type":1,"sonIds":"2,3"');
  await files.node(2, '"type":5,"confName":"shop.Check"');
  await files.node(3, '"type":6,"confName":"shop.Pay","forwardId":2');
});
afterEach(async () => {
  await files.close();
  for (const each of [context, trace, metrics]) each.disable();
  spans.reset();
});

class Check {
  async doFlow(service: Data): Promise<boolean> {
    await sleep(1);
    trace.getTracer('service').startSpan('call of the service').end();
    return service.get('secret') !== 'no';
  }
}
class Pay {
  doResult(service: Data): boolean {
    if (service.get('secret') === 'fail') throw new Error('the card 4711 is refused');
    return true;
  }
}

function told() {
  const all = spans.getFinishedSpans();
  const nameOf = (id: string | undefined) => all.find((span) => span.spanContext().spanId === id)?.name;
  return all.map(({ name, attributes, status, parentSpanContext }) => ({
    ...{ name, under: nameOf(parentSpanContext?.spanId), isError: status.code === SpanStatusCode.ERROR },
    outcome: attributes['rule.outcome'] ?? attributes['rule.node.outcome'],
  }));
}

test('a run has a span, with one below for each node and what a leaf calls below that; no data is in any', async () => {
  const client = await files.start({ leaves: { 'shop.Check': Check, 'shop.Pay': Pay }, openTelemetry: true });
  await client.run({ ruleId: 1, data: { secret: '4711' } });
  const ok = { isError: false };
  expect(told()).toEqual([
    { name: 'call of the service', under: 'Check', outcome: undefined, ...ok },
    { name: 'Check', under: 'And', outcome: 'TRUE', ...ok },
    { name: 'call of the service', under: 'Check', outcome: undefined, ...ok },
    { name: 'Check', under: 'Pay', outcome: 'TRUE', ...ok },
    { name: 'Pay', under: 'And', outcome: 'TRUE', ...ok },
    { name: 'And', under: 'rule 1', outcome: 'TRUE', ...ok },
    { name: 'rule 1', under: undefined, outcome: 'TRUE', ...ok },
  ]);
  spans.reset();
  const { answer } = await files.ask(client, { ruleId: 1 }, '{"secret":"fail"}');
  expect(answer.error).toBe('the card 4711 is refused');
  const failed = { outcome: 'ERROR', isError: true };
  expect(told().slice(-3)).toEqual([
    { name: 'Pay', under: 'And', ...failed },
    { name: 'And', under: 'rule 1', ...failed },
    { name: 'rule 1', under: undefined, ...failed },
  ]);
  const everything = spans.getFinishedSpans().map(({ attributes, events, status }) => ({ attributes, events, status }));
  expect(JSON.stringify(everything)).not.toMatch(/4711|fail"|secret/);
});

test('runs are measured per rule and outcome; a rule that is not there is no series of its own', async () => {
  const client = await files.start({ leaves: { 'shop.Check': Check, 'shop.Pay': Pay }, openTelemetry: true });
  for (const secret of ['yes', 'yes', 'no']) await client.run({ ruleId: 1, data: { secret } });
  for (const ruleId of [77, 78]) await client.run({ ruleId });
  await reader.forceFlush();
  const [histogram] = measured.getMetrics().at(-1)?.scopeMetrics[0]?.metrics ?? [];
  expect(histogram?.descriptor).toMatchObject({ name: 'rule.run.duration', unit: 's' });
  const points = histogram?.dataPoints.map(({ attributes, value }) => ({
    ...attributes,
    count: typeof value === 'object' ? value.count : value,
  }));
  expect(points).toEqual([
    { 'rule.app': 7, 'rule.id': '1', 'rule.outcome': 'TRUE', count: 2 },
    { 'rule.app': 7, 'rule.id': '1', 'rule.outcome': 'FALSE', count: 1 },
    { 'rule.app': 7, 'rule.outcome': 'ERROR', count: 2 },
  ]);
});

test('without the option nothing is traced, and steps are recorded only for whoever asks', async () => {
  const client = await files.start({ leaves: { 'shop.Check': Check, 'shop.Pay': Pay } });
  await client.run({ ruleId: 1 });
  expect(told().map(({ name }) => name)).not.toContain('rule 1');
});
