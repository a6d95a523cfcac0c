import { expect, it } from 'vitest';
import { type Elsewhere, fileOperations, fleetFor, type Ledger, price, stationsOf } from '../../bench/fleet.ts';
import { usedAt } from '../../bench/queueing-model.ts';

const ledger: Ledger = {
  api: 1000,
  worker: 800,
  heard: 150,
  redis: 400,
  workerFileOperations: 10,
  clientFileOperations: 5,
};
const elsewhere: Elsewhere = {
  fileServerPerSecond: 50_000,
  fileWaitUs: 500,
  workersPerMachine: 4,
  target: 0.6,
  processorPrice: 30,
  fileServerPrice: 500,
};

it.each([10, 1000, 10_000, 100_000])('at %i calls a second nothing is used more than the target', (rate) => {
  const fleet = fleetFor(rate, ledger, elsewhere);
  for (const station of stationsOf(ledger, elsewhere, fleet)) expect(usedAt(rate, station)).toBeLessThanOrEqual(0.6);
  const operations = fileOperations(rate, ledger, fleet, elsewhere);
  expect(operations / fleet.fileServers).toBeLessThanOrEqual(50_000 * 0.6);
});

it.each([10, 10_000])('at %i calls a second one API and one worker of each deployment may die', (rate) => {
  const { apis, workers, deployments } = fleetFor(rate, ledger, elsewhere);
  expect(apis).toBeGreaterThanOrEqual(2 * deployments);
  expect(workers).toBeGreaterThanOrEqual(2 * deployments);
});

it('a rate that one Redis could take needs another deployment all the same when its file server is full', () => {
  const slowFiles = { ...elsewhere, fileServerPerSecond: 20_000 };
  expect(fleetFor(1000, ledger, elsewhere).deployments).toBe(1);
  expect(fleetFor(1000, ledger, slowFiles)).toMatchObject({ deployments: 2, fileServers: 2 });
});

it('an API takes no more calls than its share of a processor', () => {
  // 1,000 µs a call and 60 % of a processor: 600 calls a second each
  expect(fleetFor(1200, ledger, elsewhere).apis).toBe(2);
  expect(fleetFor(1260, ledger, elsewhere).apis).toBe(3);
});

it('a fleet costs its processors and its file servers', () => {
  expect(price({ apis: 3, workers: 2, deployments: 1, fileServers: 2 }, elsewhere)).toBe(6 * 30 + 2 * 500);
});
