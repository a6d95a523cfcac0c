import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/shared/runtime/telemetry/metrics.ts';
import { hasPrometheus } from '../support/start-prometheus.ts';

describe.skipIf(!(await hasPrometheus()))('the metrics of a process (needs Prometheus)', () => {
  it('have names and types that the tool of Prometheus has nothing to say about', async () => {
    const metrics = createMetrics({ ofProcess: true });
    const child = spawn('promtool', ['check', 'metrics'], { stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.end(await metrics.registry.metrics());
    expect((await text(child.stdout)) + (await text(child.stderr))).toBe('');
  });
});
