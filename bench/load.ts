import autocannon from 'autocannon';
import { countFailures, type Failures } from './failures.ts';

export type Load = Failures & { p50: number; p99: number; perSecond: number; calls: number };

/** One call of execute, as autocannon makes it. `call`: other members. */
export const executeCall = (url: string, call: object = {}) => ({
  url: `${url}/rule-server/mock/execute`,
  method: 'POST' as const,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ app: 1, ruleId: 1, 'the service': { uid: 1, cost: 120 }, ...call }),
  timeout: 60,
});

/** For autocannon's `setupClient`: tells of each answer with its body. */
export function tellAnswers(onAnswer: (answer: { status: number; body: string; ms: number }) => void) {
  return (client: autocannon.Client): void => {
    let body = '';
    client.on('body', (text) => {
      body = String(text);
    });
    client.on('response', (status, _bytes, ms) => onAnswer({ status, body, ms }));
  };
}

/**
 * Calls execute with `callers` connections for some seconds; latencies in ms, measured at the caller. `call`: other members. A call that
 * fails, and may have failed quickly, is counted by its reason alone.
 */
export async function load(url: string, callers: number, seconds: number, call: object = {}): Promise<Load> {
  const latencies: number[] = [];
  const failures = countFailures();
  const { duration, errors, timeouts } = await autocannon({
    ...executeCall(url, call),
    connections: callers,
    duration: seconds,
    setupClient: tellAnswers(({ status, body, ms }) => {
      if (status === 200) latencies.push(ms);
      else failures.add(`${status} ${body.slice(0, 300)}`);
    }),
  });
  failures.add('no answer within 60 s', timeouts);
  failures.add('a connection that broke', errors - timeouts);
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  return {
    p50: at(0.5),
    p99: at(0.99),
    perSecond: latencies.length / duration,
    calls: latencies.length,
    ...failures.soFar(),
  };
}
