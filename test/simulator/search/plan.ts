import { formatTarget, type Target } from '../../../src/shared/contract/target.ts';
import type { Behaviour, Sdk } from '../world/clients.ts';
import type { BatchPlan, CallPlan, ClientPlan, ServicePlan } from '../world/service.ts';
import { createDice, type Dice } from './dice.ts';

/** Something that happens to the world at a time, ms after its beginning. */
export type Fault = { at: number } & (
  | { kind: 'errors'; code: DiskError; ms: number; who: string | null; directory: string | null }
  /** File operations do not come back until it is over: of one process or of all, in one directory or in all. */
  | { kind: 'hang'; ms: number; who: string | null; directory: string | null }
  /** The queue store goes away, and comes back with all it had, with nothing, or with what it had `copiedBeforeMs` ago. */
  | { kind: 'store'; back: 'whole' | 'empty' | 'old'; awayMs: number; copiedBeforeMs: number }
  | { kind: 'flush' }
  | { kind: 'clock'; role: string; ms: number }
  | { kind: 'files clock'; ms: number }
  | { kind: 'stop'; role: string; startsAfterMs: number }
  /** All processes die, and are started again after a night. The store comes back with what it had before it, or as it is. */
  | { kind: 'night'; ms: number; store: 'whole' | 'old'; copiedBeforeMs: number }
);
export type DiskError = 'ENOSPC' | 'EROFS' | 'EMFILE' | 'EACCES' | 'ESTALE' | 'EIO';

/** What happens instead of a step or a message, or before it. */
export type Twist =
  /** Another one of those that could happen. */
  | { kind: 'other'; nth: number }
  | { kind: 'dies'; startsAfterMs: number }
  | { kind: 'freezes'; ms: number }
  /** It sleeps for so long. All others go on for `stayMs`, and then sleep or are dead until so long before it wakes. */
  | { kind: 'sleeps'; ms: number; others: 'dead' | 'asleep'; stayMs: number; backBeforeMs: number }
  | { kind: 'slow'; ms: number }
  | { kind: 'stale'; age: number }
  | { kind: 'lost'; code: string }
  | { kind: 'failed'; code: string }
  | { kind: 'dropped' }
  | { kind: 'late'; ms: number }
  | { kind: 'twice'; ms: number };

/** How often each kind of twist is drawn, for a step or a message. */
export type Rates = Record<Exclude<Twist['kind'], 'sleeps' | 'failed' | 'lost'>, number> & {
  sleeps: number;
  diskLost: number;
  diskFailed: number;
  queue: number;
};

export type Plan = {
  seed: number;
  service: ServicePlan;
  calls: readonly CallPlan[];
  batches?: readonly BatchPlan[];
  faults: readonly Fault[];
  rates: Rates;
  /** Whether looks may be stale at all: it costs copies of the disk. */
  looksAreStale: boolean;
  /** So long faults happen and calls come. */
  faultyMs: number;
};

/** How large the worlds are that are drawn. */
export type Size = { calls: readonly [least: number, most: number]; faultyMs: readonly [least: number, most: number] };

const SMALL: Size = { calls: [4, 20], faultyMs: [2000, 4000] };
export const sizes = { small: SMALL, large: { calls: [50, 300], faultyMs: [6000, 15_000] } } satisfies Record<
  string,
  Size
>;

const FIRST_CALL_AT = 600;
const HOUR_MS = 3_600_000;

/** A world and what happens to it, drawn. Which kinds of faults there are at all is drawn as well: few kinds reach further than all at once. */
export function planOf(seed: number, size: Size = SMALL): Plan {
  const dice = createDice(seed);
  const more = createDice(seed ^ 0x3c6ef372); // for what was added later: the rest of each seed's world stays as it was
  const faultyMs = dice.whole(...size.faultyMs);
  const service = { ...drawService(dice), isMounted: more.chance(0.3) };
  const looksAreStale = dice.chance(0.2);
  const rates = drawRates(dice, looksAreStale);
  return {
    ...{ seed, service, rates, looksAreStale, faultyMs },
    calls: drawCalls(dice, { service, count: dice.whole(...size.calls), untilMs: faultyMs }),
    faults: [...drawFaults(dice, { service, untilMs: faultyMs }), ...drawHangs(more, { service, untilMs: faultyMs })],
    batches: drawBatches(more, { service, untilMs: faultyMs }),
  };
}

const sdks: readonly [Sdk, ...Sdk[]] = ['node', 'java', 'go', 'python'];

function drawService(dice: Dice): ServicePlan {
  const [apis, workers] = [dice.whole(1, 2), dice.whole(1, 3)];
  const clients = Array.from({ length: dice.whole(1, 3) }, () => drawClient(dice));
  const roles = rolesOf({ apis, workers, clients: clients.length });
  const skew = dice.pick([0, 0, 0, 0, 200, 5000, 20 * 60_000]);
  const isWrong = () => skew > 0 && dice.chance(0.4);
  const clocks = roles.flatMap((role) =>
    isWrong() && !role.startsWith('client') ? [[role, dice.whole(-skew, skew)] as const] : [],
  );
  return {
    ...{ apis, workers, clients },
    cleaner: dice.chance(0.2),
    clocks: Object.fromEntries(clocks),
    filesAheadMs: isWrong() ? dice.whole(-skew, skew) : 0,
    queueTimeoutMs: dice.pick([2000, 2000, 10_000]),
    resultTimeoutMs: dice.pick([1000, 3000, 6000]),
    concurrency: dice.pick([4, 20, 100]),
    waitsPerClient: dice.pick([2, 500, 500, 500]),
  };
}

function rolesOf({ apis, workers, clients }: { apis: number; workers: number; clients: number }): string[] {
  const of = (kind: string, count: number) => Array.from({ length: count }, (_, index) => `${kind} ${index + 1}`);
  return [...of('api', apis), ...of('worker', workers), ...of('client', clients)];
}

function drawClient(dice: Dice): ClientPlan {
  const sdk = dice.pick(sdks);
  return {
    sdk,
    registered: sdk !== 'node' || dice.chance(0.5), // what is just a directory speaks the dialect of Node
    lane: dice.chance(0.15) ? 'blue' : null,
    behaviour: { scansEveryMs: dice.spread(50, 1500), ...(dice.chance(0.5) ? {} : drawBehaviour(dice)) },
  };
}

function drawBehaviour(dice: Dice): Partial<Behaviour> {
  return {
    runsMs: dice.spread(1, 4000),
    writes: dice.pick(['rename', 'rename', 'in-place', 'in-two-parts']),
    answers: dice.pick(['once', 'once', 'once', 'twice', 'garbage', 'null', 'late', 'never']),
    lateMs: dice.spread(200, 20_000),
    leavesBefore: dice.chance(0.2) ? dice.pick(['scan', 'read', 'delete', 'run', 'write', 'finish', 'done']) : null,
    diesAt: dice.chance(0.2) ? dice.pick(['scan', 'read', 'delete', 'run', 'write', 'finish', 'done']) : null,
  };
}

type Within = { service: ServicePlan; untilMs: number };

function drawCalls(dice: Dice, { service, count, untilMs }: Within & { count: number }): CallPlan[] {
  const calls: CallPlan[] = [];
  let keys = 0;
  const next = (given: Pick<CallPlan, 'at' | 'key' | 'target'>): void => {
    const [leaves, isStopped] = [dice.chance(0.06), dice.chance(0.06)];
    calls.push({
      ...given,
      n: calls.length + 1,
      api: dice.whole(0, service.apis - 1),
      leavesAfterMs: leaves ? dice.spread(1, 3000) : null,
      stoppedAfterMs: isStopped ? dice.spread(1, 3000) : null,
    });
  };
  while (calls.length < count) {
    const at = dice.whole(FIRST_CALL_AT, untilMs);
    const target = drawTarget(dice, service.clients);
    if (dice.chance(0.7)) {
      next({ at, key: null, target });
      continue;
    }
    const key = `key ${++keys}`;
    for (let times = dice.whole(1, 4); times > 0; times--)
      next({ at: at + dice.pick([0, 1, dice.spread(1, 8000)]), key, target });
  }
  return calls;
}

function drawBatches(dice: Dice, { service, untilMs }: Within): BatchPlan[] {
  if (!dice.chance(0.3)) return [];
  return Array.from({ length: dice.whole(1, 2) }, (_, index) => {
    const [one, other] = [drawTarget(dice, service.clients), drawTarget(dice, service.clients)];
    const areTwo = dice.chance(0.3) && formatTarget(one) !== formatTarget(other);
    return {
      ...{ n: index + 1, at: dice.whole(FIRST_CALL_AT, untilMs), api: dice.whole(0, service.apis - 1) },
      ...{ targets: areTwo ? [one, other] : [one], cases: dice.whole(1, 12), concurrency: dice.pick([1, 4, 100]) },
      stopAfterFailures: dice.chance(0.2) ? dice.whole(1, 3) : null,
      cancelledAfterMs: dice.chance(0.2) ? dice.spread(1, 5000) : null,
    };
  });
}

function drawTarget(dice: Dice, clients: readonly ClientPlan[]): Target {
  const index = dice.whole(0, clients.length - 1);
  const client = clients[index];
  if (client?.registered && client.lane !== null && dice.chance(0.7)) return { kind: 'lane', lane: client.lane };
  if (client?.registered && dice.chance(0.7)) return { kind: 'all' };
  return { kind: 'address', address: `client-${index + 1}` };
}

function drawRates(dice: Dice, looksAreStale: boolean): Rates {
  const maybe = (probability: number, least: number, most: number) =>
    dice.chance(probability) ? least * (most / least) ** dice.fraction() : 0;
  return {
    other: dice.pick([0, 0.01, 0.1, 0.5, 1]),
    dies: maybe(0.4, 0.0003, 0.01),
    freezes: maybe(0.3, 0.0003, 0.005),
    sleeps: maybe(0.2, 0.0005, 0.01),
    slow: maybe(0.4, 0.002, 0.1),
    stale: looksAreStale ? 0.05 : 0,
    diskLost: maybe(0.25, 0.001, 0.03),
    diskFailed: maybe(0.25, 0.001, 0.03),
    queue: maybe(0.3, 0.001, 0.03),
    dropped: maybe(0.3, 0.01, 0.5),
    late: maybe(0.3, 0.01, 0.3),
    twice: maybe(0.2, 0.01, 0.2),
  };
}

function drawFaults(dice: Dice, { service, untilMs }: Within): Fault[] {
  const faults: Fault[] = [];
  const roles = rolesOf({ ...service, clients: service.clients.length });
  const at = () => dice.whole(FIRST_CALL_AT, untilMs);
  const some = (probability: number, most: number, make: () => Fault) => {
    if (!dice.chance(probability)) return;
    for (let left = dice.whole(1, most); left > 0; left--) faults.push(make());
  };
  const server = () => dice.pickAny(roles.filter((role) => role.startsWith('worker'))) ?? 'worker 1';
  some(0.3, 2, () => drawErrors(dice, at(), server(), service.clients.length));
  some(0.25, 2, () => ({
    ...{ kind: 'store', at: at(), back: dice.pick(['whole', 'empty', 'old']) },
    ...{ awayMs: dice.spread(1, 4000), copiedBeforeMs: dice.spread(1, 5000) },
  }));
  some(0.1, 1, () => ({ kind: 'flush', at: at() }));
  some(0.1, 2, () => ({
    ...{ kind: 'clock', at: at(), role: dice.pickAny(roles.filter((role) => !role.startsWith('client'))) ?? 'api 1' },
    ms: dice.pick([-1, 1]) * dice.spread(100, 1_200_000),
  }));
  some(0.05, 1, () => ({ kind: 'files clock', at: at(), ms: dice.pick([-1, 1]) * dice.spread(100, 1_200_000) }));
  some(0.25, 2, () => ({
    ...{ kind: 'stop', at: at(), role: dice.pickAny(roles) ?? 'worker 1', startsAfterMs: dice.spread(1, 3000) },
  }));
  some(0.06, 1, () => ({
    ...{ kind: 'night', at: at(), ms: dice.spread(60_000, 22 * HOUR_MS), store: dice.pick(['whole', 'old', 'old']) },
    copiedBeforeMs: dice.spread(1, 5000),
  }));
  return faults.sort((one, other) => one.at - other.at);
}

function drawHangs(dice: Dice, { service, untilMs }: Within): Fault[] {
  if (!dice.chance(0.2)) return [];
  return Array.from({ length: dice.whole(1, 2) }, () => ({
    ...{ kind: 'hang', at: dice.whole(FIRST_CALL_AT, untilMs), ms: dice.spread(100, 30_000) },
    who: dice.chance(0.5) ? `worker ${dice.whole(1, service.workers)}` : null,
    directory: dice.chance(0.5) ? `client-${dice.whole(1, service.clients.length)}` : null,
  }));
}

function drawErrors(dice: Dice, at: number, worker: string, clients: number): Fault {
  const code = dice.pick<DiskError>(['ENOSPC', 'ENOSPC', 'EROFS', 'EMFILE', 'EACCES', 'ESTALE', 'EIO']);
  const isOfDirectory = code === 'EACCES' || code === 'ESTALE' || code === 'EIO';
  return {
    ...{ kind: 'errors', at, code, ms: dice.spread(10, 4000) },
    who: code === 'ENOSPC' ? null : worker,
    directory: isOfDirectory ? `client-${dice.whole(1, clients)}` : null,
  };
}
