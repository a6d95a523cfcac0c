import type { Span } from '@opentelemetry/api';
import type { Ending } from '../engine/execution.ts';
import type { ExecutionRequest } from '../engine/run.ts';
import type { Step } from '../engine/steps.ts';
import type { RuleSet } from '../rules/rule-set.ts';

export type Telemetry = Awaited<ReturnType<typeof openTelemetry>>;

type Request = Pick<ExecutionRequest, 'ruleId' | 'confId' | 'traceparent'>;
type Api = typeof import('@opentelemetry/api');
const SCOPE = 'rule-client';

/**
 * Spans for each run and node and a histogram of runs per rule, through the OpenTelemetry API of the service. They have names, ids
 * and outcomes and never data, nor messages of errors, which may hold some. Rejects when the API is not installed.
 */
export async function openTelemetry(app: number) {
  const api = await loadApi();
  const tracer = api.trace.getTracer(SCOPE);
  const durations = api.metrics
    .getMeter(SCOPE)
    .createHistogram('rule.run.duration', { unit: 's', description: 'How long runs of rules took, by outcome' });

  return {
    began({ ruleId, confId, traceparent }: Request, rules: RuleSet) {
      const began = performance.now();
      const ids = { ...(ruleId && { 'rule.id': String(ruleId) }), ...(confId && { 'rule.conf_id': String(confId) }) };
      const name = ruleId === null ? `node ${confId}` : `rule ${ruleId}`;
      const span = tracer.startSpan(name, { attributes: { 'rule.app': app, ...ids } }, parentOf(api, traceparent));
      const nodes = span.isRecording() ? nodeSpans(api, span) : null;
      const here = api.trace.setSpan(api.context.active(), span);
      return {
        /** Null when nobody records the run. */
        watcher: nodes,
        /** Runs a leaf's code inside the span of its node, so that what the leaf calls stands below it. */
        within: <T>(step: Step | null, work: () => T): T => api.context.with(nodes?.contextOf(step) ?? here, work),
        ended(ending: Ending): void {
          const outcome = ending.kind === 'failed' ? 'ERROR' : (ending.outcome ?? 'NOT_RUN');
          nodes?.endOpen();
          span.setAttribute('rule.outcome', outcome);
          if (ending.kind === 'failed') span.setStatus({ code: api.SpanStatusCode.ERROR });
          span.end();
          // An id that no rule has would be a series of its own for every typing error.
          const isKnown = ruleId !== null && rules.released.rules.has(ruleId);
          const rule = isKnown ? { 'rule.id': String(ruleId) } : {};
          durations.record((performance.now() - began) / 1000, { 'rule.app': app, ...rule, 'rule.outcome': outcome });
        },
      };
    },
  };
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The parent of a run's span: the caller's span from `traceparent`; without one, the span that is active in this process. */
function parentOf(api: Api, traceparent: string | undefined) {
  const [, traceId, spanId, flags = '00'] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined) return api.context.active();
  const traceFlags = Number.parseInt(flags, 16);
  return api.trace.setSpanContext(api.context.active(), { traceId, spanId, traceFlags, isRemote: true });
}

function nodeSpans(api: Api, root: Span) {
  const tracer = api.trace.getTracer(SCOPE);
  const spans = new Map<Step, Span>();
  const open = new Set<Step>();
  const contextOf = (step: Step | null) => api.trace.setSpan(api.context.active(), (step && spans.get(step)) ?? root);

  function end(step: Step): void {
    const span = spans.get(step);
    if (!open.delete(step) || span === undefined) return;
    span.setAttribute('rule.node.outcome', step.outcome);
    if (step.outcome === 'ERROR') span.setStatus({ code: api.SpanStatusCode.ERROR });
    span.end();
  }

  return {
    contextOf,
    began(step: Step): void {
      const attributes = { 'rule.node.id': String(step.nodeId), 'rule.node.role': step.role };
      spans.set(step, tracer.startSpan(step.name, { attributes }, contextOf(step.parent)));
      open.add(step);
    },
    ended: end,
    /** Code that runs on beside an ended run adds nothing. */
    endOpen: () => open.forEach(end),
  };
}

async function loadApi(): Promise<Api> {
  try {
    return await import('@opentelemetry/api');
  } catch (cause) {
    throw new Error('openTelemetry: install @opentelemetry/api beside this package, or leave the option out', {
      cause,
    });
  }
}
