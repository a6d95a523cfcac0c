import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Span, Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
import { random } from '../../ports/process.ts';
import { atMost, POLL_MS, STOP_WITHIN_MS } from '../async.ts';
import { traceOfLog } from './logger.ts';
import type { Tracing } from './tracing.ts';

const SCOPE = 'rule-server';

/** A trace begins with an HTTP request. What queues do by themselves, again and again, is none. */
const requestsOnly: Sampler = {
  shouldSample: (_context, _traceId, _name, kind) => ({
    decision: kind === SpanKind.SERVER ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
  }),
  toString: () => 'requestsOnly',
};

/** Starts sending traces over OTLP/HTTP. Loaded only when an endpoint is configured. */
export function startTracing(endpoint: string, of: { role: string; version: string }): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const provider = new TracerProvider({
    resource: resourceOf(of),
    sampler: new ParentBasedSampler({ root: requestsOnly }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: POLL_MS })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  const tracer = provider.getTracer(SCOPE);
  traceOfLog().now = () => {
    const spanContext = trace.getActiveSpan()?.spanContext();
    return spanContext && { trace_id: spanContext.traceId, span_id: spanContext.spanId };
  };

  return {
    telemetry: discreetTelemetry(),
    part(name, from, to, { attributes = {}, failed = false } = {}) {
      const span = tracer.startSpan(name, { startTime: from, attributes });
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(to);
    },
    traceparent() {
      const carrier: { traceparent?: string } = {};
      propagation.inject(context.active(), carrier);
      return carrier.traceparent;
    },
    stop: () => atMost(STOP_WITHIN_MS, provider.shutdown()),
  };
}

/** This process, as OpenTelemetry's resource conventions say it; OTEL_RESOURCE_ATTRIBUTES adds to it, and overrules it. */
function resourceOf({ role, version }: { role: string; version: string }) {
  const own = resourceFromAttributes({
    'service.name': `rule-server-${role}`,
    'service.version': version,
    'service.instance.id': random.uuid(),
  });
  return own.merge(detectResources({ detectors: [envDetector] }));
}

/** A job's attributes from BullMQ, under the names that OpenTelemetry has for messages. */
const MESSAGING = new Map([
  ['bullmq.queue.name', 'messaging.destination.name'],
  ['bullmq.job.id', 'messaging.message.id'],
  ['bullmq.queue.operation', 'messaging.operation.name'],
]);

/** BullMQ's telemetry without what executions are about: it would put whole results into its spans. */
function discreetTelemetry(): Telemetry {
  const { tracer, contextManager } = new BullMQOtel({ tracerName: SCOPE });
  return {
    tracer: { startSpan: (name, options, parent) => discreet(tracer.startSpan(name, options, parent)) },
    contextManager: {
      active: () => contextManager.active(),
      with: (active, run) => contextManager.with(active, run),
      // Loops that a request happens to start do not belong to it.
      root: () => ROOT_CONTEXT,
      getMetadata: (active) => contextManager.getMetadata(active),
      fromMetadata: (active, metadata) => contextManager.fromMetadata(active, metadata),
    },
  };
}

const SYSTEM = ['messaging.system', 'bullmq'] as const;
/** The kinds of operations that the messaging conventions know, by what BullMQ calls them. */
const OPERATIONS = new Map<unknown, string>([
  ['add', 'send'],
  ['addBulk', 'send'],
  ['process', 'process'],
]);
const TOLD = /^bullmq\.(?!job\.(result|failed\.reason|progress|options)$)/;

function discreet(span: Span): Span {
  const masked = (attributes: Parameters<Span['setAttributes']>[0]) =>
    Object.fromEntries(
      Object.entries(attributes).flatMap(([key, value]) => {
        const messaging = MESSAGING.get(key);
        const type = key === 'bullmq.queue.operation' ? OPERATIONS.get(value) : undefined;
        const typed = type === undefined ? [] : [['messaging.operation.type', type] as const];
        if (messaging !== undefined) return [[key, value] as const, [messaging, value] as const, SYSTEM, ...typed];
        return TOLD.test(key) ? [[key, value] as const] : [];
      }),
    );
  return {
    setSpanOnContext: (active) => span.setSpanOnContext(active),
    setAttribute: (key, value) => span.setAttributes(masked({ [key]: value })),
    setAttributes: (attributes) => span.setAttributes(masked(attributes)),
    addEvent: (name, attributes = {}) => span.addEvent(name, masked(attributes)),
    recordException: (exception) => span.addEvent('exception', { 'exception.type': nameOf(exception) }),
    end: () => span.end(),
  };
}

/** The message of an error may quote a client. */
function nameOf(exception: unknown): string {
  return exception instanceof Error ? exception.name : 'Error';
}
