import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drawCurves } from './curves.ts';
import { type Elsewhere, type Fleet, fleetFor, type Ledger, stationsOf, timeUs } from './fleet.ts';

const STEPS = 120;
const FLEETS: readonly Fleet[] = [
  { apis: 1, workers: 1, deployments: 1, fileServers: 1 },
  { apis: 2, workers: 2, deployments: 1, fileServers: 1 },
  { apis: 4, workers: 4, deployments: 1, fileServers: 1 },
  { apis: 32, workers: 32, deployments: 8, fileServers: 8 },
];

/** Writes both drawings of docs/internals/scaling.md into a folder. */
export async function drawScaling(folder: string, ledger: Ledger, elsewhere: Elsewhere): Promise<void> {
  const times = FLEETS.map((fleet) => ({
    name: `${fleet.apis} APIs, ${fleet.workers} workers, ${fleet.deployments} Redis`,
    points: between(10, 20_000).map(
      (rate) => [rate, timeUs(rate, stationsOf(ledger, elsewhere, fleet)) / 1000] as const,
    ),
  }));
  const sizes = (['apis', 'workers', 'deployments', 'fileServers'] as const).map((kind) => ({
    name: { apis: 'APIs', workers: 'workers', deployments: 'Redis masters', fileServers: 'file servers' }[kind],
    points: between(100, 100_000).map((rate) => [rate, fleetFor(rate, ledger, elsewhere)[kind]] as const),
  }));
  const x = 'calls a second';
  const time = drawCurves({ title: 'Time of a call in the service, without its rule', x, y: 'ms' }, times);
  const used = `${elsewhere.target * 100} %`;
  const size = drawCurves({ title: `What a rate takes, nothing used more than ${used}`, x, y: 'of each' }, sizes);
  await writeFile(join(folder, 'scaling-time.svg'), time);
  await writeFile(join(folder, 'scaling-size.svg'), size);
}

/** The same distance between all of them on a logarithmic axis. */
function between(low: number, high: number): number[] {
  return Array.from({ length: STEPS + 1 }, (_, index) => low * (high / low) ** (index / STEPS));
}
