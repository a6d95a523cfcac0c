import autocannon from 'autocannon';

export type Load = { p50: number; p99: number; perSecond: number; failed: number; calls: number };

/** Calls execute with `callers` connections for some seconds; latencies in ms, measured at the caller. `call`: other members. */
export async function load(url: string, callers: number, seconds: number, call: object = {}): Promise<Load> {
  const latencies: number[] = [];
  let failed = 0;
  const { duration } = await autocannon({
    url: `${url}/rule-server/mock/execute`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ app: 1, ruleId: 1, 'the service': { uid: 1, cost: 120 }, ...call }),
    connections: callers,
    duration: seconds,
    timeout: 60,
    setupClient: (client) => {
      client.on('response', (status, _bytes, ms) => {
        latencies.push(ms);
        if (status !== 200) failed++;
      });
    },
  });
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), perSecond: latencies.length / duration, failed, calls: latencies.length };
}
