import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { usage } from './processes.ts';

/** What one call cost: µs of CPU by process, and what Redis did. */
export type Costs = {
  calls: number;
  cpu: Record<string, number>;
  redis: Record<'commands' | 'scripts' | 'reads' | 'writes' | 'bytesIn' | 'bytesOut', number>;
  /** Redis commands by name, also those inside scripts. */
  each: Record<string, number>;
};

const IDLE_MS = 3000;

/**
 * Measures processes while `run` makes calls; it resolves to how many there were. What they use without calls is taken
 * off, so that the result does not depend on how many calls a busy machine has time for.
 */
export async function costsOf(
  processes: Record<string, ChildProcess>,
  redisUrl: string,
  run: () => Promise<number>,
): Promise<Costs> {
  const redis = new Redis(redisUrl);
  const look = async () => ({ at: performance.now(), used: usedBy(processes), did: await didSoFar(redis) });
  const began = await look();
  await sleep(IDLE_MS);
  const before = await look();
  const calls = await run();
  const after = await look();
  redis.disconnect();
  const idleTimes = (after.at - before.at) / (before.at - began.at);
  const perCall = (name: string, of: (at: typeof began) => Record<string, number>) => {
    const [first = 0, second = 0, last = 0] = [began, before, after].map((at) => of(at)[name] ?? 0);
    return Math.max(0, (last - second - (second - first) * idleTimes) / calls);
  };
  const table = (of: (at: typeof began) => Record<string, number>) =>
    Object.fromEntries(Object.keys(of(after)).map((name) => [name, perCall(name, of)]));
  const each = Object.fromEntries(Object.entries(table((at) => at.did.each)).filter(([, times]) => times >= 0.05));
  const { reads = 0, writes = 0, bytesIn = 0, bytesOut = 0 } = table((at) => at.did.stats);
  const commands = Object.values(each).reduce((sum, times) => sum + times, 0);
  const scripts = (each.evalsha ?? 0) + (each.eval ?? 0);
  return { calls, cpu: table((at) => at.used), redis: { commands, scripts, reads, writes, bytesIn, bytesOut }, each };
}

/** µs of CPU that processes have used so far, by their names. */
export function usedBy(processes: Record<string, ChildProcess>): Record<string, number> {
  return Object.fromEntries(Object.entries(processes).map(([name, child]) => [name, usage(child).cpuSeconds * 1e6]));
}

/** Since Redis started. `reads` and `writes`: how often it took bytes from a connection, or gave some to one. */
async function didSoFar(redis: Redis): Promise<{ each: Record<string, number>; stats: Record<string, number> }> {
  const [stats, commands] = [await redis.info('stats'), await redis.info('commandstats')];
  const number = (name: string) => Number(new RegExp(`${name}:(\\d+)`).exec(stats)?.[1] ?? 0);
  const found = [...commands.matchAll(/cmdstat_([^:]+):calls=(\d+)/g)];
  return {
    each: Object.fromEntries(found.map(([, name = '', calls]) => [name, Number(calls)])),
    stats: {
      reads: number('total_reads_processed'),
      writes: number('total_writes_processed'),
      bytesIn: number('total_net_input_bytes'),
      bytesOut: number('total_net_output_bytes'),
    },
  };
}
