import { responseUs, type Station } from './queueing-model.ts';

/** What one call costs. Times are µs of one processor, operations are counted. */
export type Ledger = {
  api: number;
  worker: number;
  /** What a call costs each other worker on the same machine, which hears of its files. */
  heard: number;
  redis: number;
  workerFileOperations: number;
  clientFileOperations: number;
};

/** What is not measured here: file servers, and how many workers share a machine. Prices are of a month. */
export type Elsewhere = {
  fileServerPerSecond: number;
  fileWaitUs: number;
  workersPerMachine: number;
  /** No processor, and no file server, is used more than this. */
  target: number;
  processorPrice: number;
  fileServerPrice: number;
};

/** A deployment has one Redis master and one shared directory; several of them share calls and file servers evenly. */
export type Fleet = { apis: number; workers: number; deployments: number; fileServers: number };

/** The service runs libuv with so many threads for files. */
const FILE_THREADS = 64;
/** Where no events arrive a worker looks into directories for at most this share of its time (`watch.ts`). */
const LOOKING_SHARE = 0.1;
/** One may die. */
const AT_LEAST = 2;
const MORE_DEPLOYMENTS = 100;

export function stationsOf(ledger: Ledger, elsewhere: Elsewhere, fleet: Fleet): Station[] {
  const neighbours = Math.min(elsewhere.workersPerMachine, fleet.workers / fleet.deployments) - 1;
  return [
    { name: 'API', serviceUs: ledger.api, servers: fleet.apis },
    { name: 'worker', serviceUs: ledger.worker + ledger.heard * neighbours, servers: fleet.workers },
    {
      name: 'file threads of a worker',
      serviceUs: ledger.workerFileOperations * elsewhere.fileWaitUs,
      servers: fleet.workers * FILE_THREADS,
    },
    { name: 'Redis master', serviceUs: ledger.redis, servers: fleet.deployments },
  ];
}

/** File operations a second of all workers and clients: those of calls, and looks for answers that no event tells of. */
export function fileOperations(
  perSecond: number,
  ledger: Ledger,
  { workers }: Pick<Fleet, 'workers'>,
  { fileWaitUs }: Elsewhere,
): number {
  const ofCalls = perSecond * (ledger.workerFileOperations + ledger.clientFileOperations);
  return ofCalls + (workers * LOOKING_SHARE * 1e6) / fileWaitUs;
}

/** The mean time of a call in the service in µs, its rule and queues at the file server left out. */
export function timeUs(perSecond: number, stations: readonly Station[]): number {
  return stations.reduce((sum, station) => sum + responseUs(perSecond, station), 0);
}

/** The cheapest fleet in which nothing is used more than the target. */
export function fleetFor(perSecond: number, ledger: Ledger, elsewhere: Elsewhere): Fleet {
  const fewest = Math.max(1, Math.ceil((perSecond * ledger.redis) / 1e6 / elsewhere.target));
  const fleets = Array.from({ length: MORE_DEPLOYMENTS }, (_, more) =>
    fleetOf(fewest + more, perSecond, ledger, elsewhere),
  ).filter((fleet) => fleet !== undefined);
  const [cheapest] = fleets.toSorted((one, other) => price(one, elsewhere) - price(other, elsewhere));
  if (!cheapest)
    throw new Error(`no fleet of up to ${fewest + MORE_DEPLOYMENTS} deployments takes ${perSecond} calls a second`);
  return cheapest;
}

export const processorsOf = ({ apis, workers, deployments }: Fleet) => apis + workers + deployments;

/** What a fleet costs a month, without what only clients need. */
export function price(fleet: Fleet, { processorPrice, fileServerPrice }: Elsewhere): number {
  return processorsOf(fleet) * processorPrice + fleet.fileServers * fileServerPrice;
}

/** Undefined when one of the file servers would be too full: each directory lies on one. */
function fleetOf(deployments: number, perSecond: number, ledger: Ledger, elsewhere: Elsewhere): Fleet | undefined {
  const { target, workersPerMachine, fileWaitUs, fileServerPerSecond } = elsewhere;
  const enough = (serviceUs: number) => Math.ceil(((perSecond / deployments) * serviceUs) / 1e6 / target);
  const workers = Math.max(
    AT_LEAST,
    enough(ledger.worker + ledger.heard * (workersPerMachine - 1)),
    enough((ledger.workerFileOperations * fileWaitUs) / FILE_THREADS),
  );
  const fleet = {
    apis: deployments * Math.max(AT_LEAST, enough(ledger.api)),
    workers: deployments * workers,
    deployments,
  };
  const fileServers = Math.ceil(fileOperations(perSecond, ledger, fleet, elsewhere) / (fileServerPerSecond * target));
  return fileServers > deployments ? undefined : { ...fleet, fileServers };
}
