import { context, propagation, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Span, Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
import { atMost } from './at-most.ts';
import type { Tracing } from './tracing.ts';

const SEND_EVERY_MS = 1000;
const STOP_WITHIN_MS = 2000;
const SCOPE = 'rule-server';

/** A trace begins with an HTTP request. What queues do by themselves, again and again, is none. */
const requestsOnly: Sampler = {
  shouldSample: (_context, _traceId, _name, kind) => ({
    decision: kind === SpanKind.SERVER ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
  }),
  toString: () => 'requestsOnly',
};

/** Starts sending traces over OTLP/HTTP. Loaded only when an endpoint is configured. */
export function startTracing(endpoint: string, role: string): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': `rule-server-${role}` }),
    sampler: new ParentBasedSampler({ root: requestsOnly }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: SEND_EVERY_MS })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  const tracer = provider.getTracer(SCOPE);

  return {
    telemetry: discreetTelemetry(),
    part: (name, from, to, attributes = {}) => tracer.startSpan(name, { startTime: from, attributes }).end(to),
    stop: () => atMost(STOP_WITHIN_MS, provider.shutdown()),
  };
}

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

const TOLD = /^bullmq\.(?!job\.(result|failed\.reason|progress|options)$)/;

function discreet(span: Span): Span {
  const told = (attributes: Parameters<Span['setAttributes']>[0]) =>
    Object.fromEntries(Object.entries(attributes).filter(([key]) => TOLD.test(key)));
  return {
    setSpanOnContext: (active) => span.setSpanOnContext(active),
    setAttribute: (key, value) => TOLD.test(key) && span.setAttribute(key, value),
    setAttributes: (attributes) => span.setAttributes(told(attributes)),
    addEvent: (name, attributes = {}) => span.addEvent(name, told(attributes)),
    recordException: (exception) => span.addEvent('exception', { 'exception.type': nameOf(exception) }),
    end: () => span.end(),
  };
}

/** The message of an error may quote a client. */
function nameOf(exception: unknown): string {
  return exception instanceof Error ? exception.name : 'Error';
}
