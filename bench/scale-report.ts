import { type CostModel, predict, windowsOf } from './cost-model.ts';
import {
  type Elsewhere,
  fileOperations,
  fleetFor,
  type Ledger,
  price,
  processorsOf,
  stationsOf,
  timeUs,
} from './fleet.ts';
import { median } from './median.ts';
import { mostAt, type Station, usedAt } from './queueing-model.ts';
import { type Configuration, KINDS, type Window } from './scale-window.ts';

export type Checked = Configuration & {
  feeds: boolean;
  measured: number;
  slowest: number;
  fastest: number;
  model: number;
  /** What single windows are away from the model, beyond what the configuration is: the noise that no model explains. */
  apart: number;
  free: number;
};

const RATES = [1000, 10_000, 100_000];
const whole = (value: number) => Math.round(value).toLocaleString('en');
export const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
export const offBy = ({ model, measured }: Checked) => model / measured - 1;
export const worstOf = (checked: readonly Checked[]) => Math.max(...checked.map((row) => Math.abs(offBy(row))));

/** The model beside what was measured in each configuration, as medians over its windows. */
export function check(
  windows: readonly Window[],
  configurations: readonly (Configuration & { feeds: boolean })[],
  { costsOf, callers }: { costsOf: CostModel; callers: number },
): Checked[] {
  return configurations.map((configuration) => {
    const own = windowsOf(windows, configuration).map((window) => ({
      ...window,
      model: predict(costsOf, configuration, { callers, ...window }),
    }));
    const rates = own.map(({ perSecond }) => perSecond);
    const ratios = own.map(({ perSecond, model }) => model / perSecond);
    return {
      ...configuration,
      measured: median(rates),
      slowest: Math.min(...rates),
      fastest: Math.max(...rates),
      model: median(own.map(({ model }) => model)),
      apart: Math.max(...ratios.map((ratio) => Math.abs(ratio / median(ratios) - 1))),
      free: median(own.map(({ free }) => free)),
    };
  });
}

export function costTable(costsOf: CostModel, corners: readonly Configuration[]): string {
  const costs = corners.map(costsOf);
  return table(
    ['µs of processor time a call', ...corners.map(({ apis, workers }) => `${apis} × ${workers}`)],
    [
      ...KINDS.map((kind) => [kind, ...costs.map(({ cost }) => whole(cost[kind]))]),
      ['all', ...costs.map(({ total }) => whole(total))],
    ],
  );
}

export function checkTable(checked: readonly Checked[]): string {
  return table(
    ['APIs', 'Workers', '', 'Processors free', 'Measured', 'slowest and fastest window', 'Model', 'Off by', 'Noise'],
    checked.map((row) => [
      ...[String(row.apis), String(row.workers), row.feeds ? 'feeds' : 'checks', row.free.toFixed(2)],
      ...[whole(row.measured), `${whole(row.slowest)}-${whole(row.fastest)}`, whole(row.model)],
      ...[percent(offBy(row)), percent(row.apart)],
    ]),
  );
}

export function fullFirstTable(ledger: Ledger, elsewhere: Elsewhere): string {
  const rows = oneOfEach(ledger, elsewhere).map((station) => {
    return [station.name, whole(mostAt(station)), whole(mostAt(station) * elsewhere.target)];
  });
  return table(['One', 'Calls a second when full', `at ${percent(elsewhere.target)}`], rows);
}

/** The first one to be full comes first. */
function oneOfEach(ledger: Ledger, elsewhere: Elsewhere): Station[] {
  const one = { apis: 1, workers: 1, deployments: 1, fileServers: 1 };
  const operations = ledger.workerFileOperations + ledger.clientFileOperations;
  const fileServer = {
    name: 'file server',
    serviceUs: (operations * 1e6) / elsewhere.fileServerPerSecond,
    servers: 1,
  };
  return [...stationsOf(ledger, elsewhere, one), fileServer].toSorted((a, b) => mostAt(a) - mostAt(b));
}

export function answerTable(ledger: Ledger, elsewhere: Elsewhere): string {
  const head = ['Calls a second', 'Too much for one', 'APIs', 'Workers', 'Redis masters = deployments'];
  return table(
    [...head, 'File operations a second', 'File servers', 'Processors', 'A month', 'A call without its rule'],
    RATES.map((rate) => {
      const fleet = fleetFor(rate, ledger, elsewhere);
      const tooMuch = oneOfEach(ledger, elsewhere).filter((station) => usedAt(rate, station) > elsewhere.target);
      return [
        ...[whole(rate), tooMuch.map(({ name }) => name).join(', ') || 'nothing'],
        ...[fleet.apis, fleet.workers, fleet.deployments].map(whole),
        ...[fileOperations(rate, ledger, fleet, elsewhere), fleet.fileServers, processorsOf(fleet)].map(whole),
        `$${whole(price(fleet, elsewhere))}, $${whole(fleet.fileServers * elsewhere.fileServerPrice)} of it file servers`,
        `${(timeUs(rate, stationsOf(ledger, elsewhere, fleet)) / 1000).toFixed(1)} ms`,
      ];
    }),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
