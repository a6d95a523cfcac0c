import { readFileSync } from 'node:fs';
import { httpCall } from './http-call.ts';

/** The most memory a process ever had, in bytes, as Linux counts it. */
export function peakMemory(pid: number): number {
  const [, kilobytes = '0'] = readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmHWM:\s+(\d+) kB$/m) ?? [];
  return Number(kilobytes) * 1024;
}

/** How late the event loop of a process was at worst since its metrics were read last, in ms. */
export async function eventLoopLagMs(url: string): Promise<{ p99: number; max: number }> {
  const { text } = await httpCall(`${url}/metrics`);
  const value = (name: string) => 1000 * Number(text.match(new RegExp(`^${name} (\\S+)$`, 'm'))?.[1] ?? Number.NaN);
  return { p99: value('nodejs_eventloop_lag_p99_seconds'), max: value('nodejs_eventloop_lag_max_seconds') };
}
