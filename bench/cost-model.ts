import { median } from './median.ts';
import { closedThroughput, type Station } from './queueing-model.ts';
import { type Configuration, KINDS, type PerKind, perKind, sumOf, type Window } from './scale-window.ts';

/** What a call costs in one configuration, in µs of processor time. */
export type Costs = { cost: PerKind; main: PerKind; total: number };
export type CostModel = (configuration: Configuration) => Costs;

/**
 * Costs of every configuration from the four corners alone, each with the fewest or most APIs and workers: a base, what each further
 * API adds, what each further worker adds, and what they add together (bilinear). All other windows are not looked at.
 */
export function costsFrom(windows: readonly Window[]): CostModel {
  const apis = extremes(windows.map((window) => window.apis));
  const workers = extremes(windows.map((window) => window.workers));
  const corner = (...at: [number, number]) => medianCosts(windowsOf(windows, { apis: at[0], workers: at[1] }));
  const [few, moreApis] = [corner(apis.least, workers.least), corner(apis.most, workers.least)];
  const [moreWorkers, many] = [corner(apis.least, workers.most), corner(apis.most, workers.most)];
  return (configuration) => {
    const right = (configuration.apis - apis.least) / (apis.most - apis.least);
    const up = (configuration.workers - workers.least) / (workers.most - workers.least);
    const between = (of: (costs: Costs) => number) =>
      of(few) * (1 - right) * (1 - up) +
      of(moreApis) * right * (1 - up) +
      of(moreWorkers) * (1 - right) * up +
      of(many) * right * up;
    return {
      cost: perKind((kind) => between(({ cost }) => cost[kind])),
      main: perKind((kind) => between(({ main }) => main[kind])),
      total: between(({ total }) => total),
    };
  };
}

type Conditions = { callers: number; free: number };

/** Calls a second on one machine: all processes share what is free of its processors, and no main thread has more than one. */
export function predict(costsOf: CostModel, at: Configuration, { callers, free }: Conditions): number {
  const { main, total } = costsOf(at);
  const servers = { api: at.apis, worker: at.workers, redis: 1, client: 1, caller: 1 };
  const stations: Station[] = [
    { name: 'processors', serviceUs: total, servers: free },
    ...KINDS.map((kind) => ({ name: kind, serviceUs: main[kind], servers: servers[kind] })),
  ];
  return closedThroughput(callers, total, stations);
}

export function windowsOf(windows: readonly Window[], { apis, workers }: Configuration): Window[] {
  return windows.filter((window) => window.apis === apis && window.workers === workers);
}

function medianCosts(windows: readonly Window[]): Costs {
  const of = (which: 'cost' | 'main') => perKind((kind) => median(windows.map((window) => window[which][kind])));
  // The sum of medians would be less than the median of sums: what is dear in one window is cheap in another.
  return { cost: of('cost'), main: of('main'), total: median(windows.map(({ cost }) => sumOf(cost))) };
}

function extremes(values: readonly number[]): { least: number; most: number } {
  return { least: Math.min(...values), most: Math.max(...values) };
}
