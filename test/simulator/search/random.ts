import { hash } from 'node:crypto';
import type { Checked } from '../world/promises.ts';
import type { Happening, Made, Ready } from '../world/scheduler.ts';
import { ALL_SWEPT_AFTER_MS, createService, type Role, type Service } from '../world/service.ts';
import type { StoreCopy } from '../world/store.ts';
import { createDice, type Dice } from './dice.ts';
import { type DiskError, type Fault, type Plan, planOf, type Rates, type Size, type Twist } from './plan.ts';

/** The twists of a run, by what they are about: `worker 1 12` is the twelfth step of that process, `worker 1 m3` its third message. */
export type Twists = ReadonlyMap<string, Twist>;

export type Result = {
  /** What does not hold; undefined when all does. */
  broken: string | undefined;
  trace: readonly Made[];
  twists: Twists;
  steps: number;
  /** How much time passed in the world, without the nights. */
  livedMs: number;
  calls: number;
  answered: number;
  endings: ReadonlyMap<string, number>;
  checked: Checked;
  hash(): string;
};

/** How a call must be told at the latest, beyond RESULT_TIMEOUT_MS and QUEUE_TIMEOUT_MS. */
const SLACK_MS = 12_000;
/** More than any world makes in a second of its life: one in which time stands still is a defect of the world, or of the service. */
const MAX_STEPS_A_SECOND = 50_000;
/** Calm so long after the last caller was told, others look at what is there. */
const QUIET_MS = 300;
/** After a night: the first sweeps are over by then, and all of them. */
const [FIRST_SWEEPS_MS, ALL_SWEEPS_MS] = [12_500, 25 * 60_000];
/** A worker looks out for answers that may come late for ten minutes, and keeps a folder of keys for twenty: that time passes in its sleep. */
const LATE_MS = 21 * 60_000;
const RESTART_IN_CALM_MS = 50;
/** A batch goes on so soon after its worker died, and an item takes so long at most, beside RESULT_TIMEOUT_MS: the client looks, and runs it. */
const [TAKEN_OVER_MS, ITEM_MS] = [30_000, 6000];

export type RunOptions = {
  /** Instead of drawing twists: these. */
  twists?: Twists;
  /** Whether all are killed at the end, and what is left after 25 h is looked at. */
  looksAfterwards?: boolean;
};

/** Draws a world for a seed, and runs it. */
export function runSeed(seed: number, size?: Size, options: RunOptions = {}): Promise<Result> {
  return runPlan(planOf(seed, size), options);
}

/** Runs a world to its end: faults and calls, then calm, in which all must settle, then a look at what is left. */
export async function runPlan(plan: Plan, options: RunOptions = {}): Promise<Result> {
  const run = await createRun(plan, options);
  const realNow = Date.now;
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 1; // most errors here are a code
  Date.now = () => run.service.scheduler.epoch(); // what tells the time of day in a sentence, past the port
  try {
    await run.live();
  } finally {
    Date.now = realNow;
    Error.stackTraceLimit = stackTraceLimit;
    run.service.close();
  }
  return run.result();
}

type Agenda = { at: number; run: () => void };

async function createRun(plan: Plan, { twists: given, looksAfterwards = true }: RunOptions) {
  const decide = createDecider(plan, given);
  const service = await createService(plan.service, {
    onMessage: ({ process, kind, id }, deliver) => {
      const twist = kind === 'lost' ? undefined : decide.message(process);
      carry(service, { process, what: `hears ${kind} ${id}`, twist, deliver });
    },
    onWatch: ({ process, name }, deliver) =>
      carry(service, { process, what: `event ${name}`, twist: decide.message(process), deliver }),
  });
  const { scheduler, promises } = service;
  const periods = createPeriods(service);
  const agenda: Agenda[] = [];
  const held = new Map<number, number>();
  const released = new Set<number>();
  const frozenUntil = new Map<string, number>();
  let [calmAt, skippedMs, steps, over] = [Number.POSITIVE_INFINITY, 0, 0, false];
  /** Sleeps that have begun, and that the others do not share yet. */
  let falling = 0;
  let failure: string | undefined;
  /** The steps that were made before this second of the world. */
  let counted = { second: 0, after: 0 };
  service.past.keep(plan.looksAreStale);

  const later = (afterMs: number, run: () => void): void => {
    agenda.push({ at: scheduler.now + afterMs, run });
    agenda.sort((one, other) => one.at - other.at);
  };

  /** Time passes in which nothing happens; what is to come comes so much later. */
  function skip(ms: number): void {
    skippedMs += ms;
    for (const one of agenda) one.at += ms;
  }

  const role = (name: string) => service.roles.get(name);
  const startLater = (name: string, afterMs: number) =>
    later(afterMs, () => {
      const found = role(name);
      if (found) service.start(found);
    });

  function killAll(): string[] {
    const alive = [...service.roles.values()].filter(({ running }) => running);
    for (const one of alive) service.kill(one);
    return alive.map(({ name }) => name);
  }

  function freeze(process: string, ms: number): void {
    scheduler.freeze(process, ms);
    frozenUntil.set(process, scheduler.now + ms);
    scheduler.note(process, `stands still for ${ms} ms`, '');
  }

  function sleep(process: string, { ms, others, stayMs, backBeforeMs }: Extract<Twist, { kind: 'sleeps' }>): void {
    freeze(process, ms);
    const awayMs = Math.max(0, ms - stayMs - backBeforeMs);
    const leave = (one: Role) => {
      if (!one.running || one.running.process === process) return;
      if (others === 'asleep') return freeze(one.running.process, awayMs);
      service.kill(one);
      startLater(one.name, awayMs);
    };
    falling++;
    later(stayMs, () => {
      falling--;
      if (!scheduler.isAlive(process)) return;
      skip(awayMs);
      for (const one of service.roles.values()) leave(one);
    });
  }

  function befall(fault: Fault): void {
    scheduler.note('world', describe(fault), '');
    switch (fault.kind) {
      case 'errors':
      case 'hang':
        periods.begin(fault);
        break;
      case 'store':
        periods.storeAway(fault, later);
        break;
      case 'flush':
        promises.lostAllData();
        service.store.forgetAll({ restart: false });
        break;
      case 'clock':
        shift(fault.role, fault.ms);
        break;
      case 'files clock':
        service.files.aheadMs += fault.ms;
        break;
      case 'stop': {
        const found = role(fault.role);
        if (found) service.stop(found, () => startLater(fault.role, fault.startsAfterMs));
        break;
      }
      case 'night':
        passNight(fault);
    }
  }

  function passNight(fault: Extract<Fault, { kind: 'night' }>): void {
    const { ms, store } = fault;
    const old = store === 'old' ? periods.oldCopy(fault) : undefined;
    const names = killAll();
    if (old) {
      promises.lostAllData();
      service.store.restore(old);
    }
    skip(ms);
    scheduler.passTo(scheduler.now + ms);
    for (const name of names) startLater(name, 0);
  }

  function shift(name: string, ms: number): void {
    const process = role(name)?.running?.process;
    if (process !== undefined) scheduler.shift(process, ms);
  }

  for (const call of plan.calls) later(call.at, () => service.call(call));
  const { batches = [] } = plan;
  for (const batch of batches) later(batch.at, () => service.batch(batch));
  for (const fault of plan.faults) {
    if ('copiedBeforeMs' in fault) later(Math.max(0, fault.at - fault.copiedBeforeMs), () => periods.copyStore(fault));
    later(fault.at, () => befall(fault));
  }

  function becomeCalm(): void {
    decide.isCalm();
    periods.end();
    service.past.keep(false);
    held.clear();
    agenda.length = 0;
    for (const one of service.roles.values())
      if (!one.running) startLater(one.name, one.kind === 'client' ? RESTART_IN_CALM_MS : 0);
    const asleep = [...frozenUntil].filter(([process]) => scheduler.isAlive(process));
    calmAt = Math.max(scheduler.now, ...asleep.map(([, until]) => until));
    scheduler.note('world', 'is calm', '');
  }

  /** Steps that can happen now, without those that take longer. */
  function ready(): Ready[] {
    const all = periods.withoutHanging(scheduler.ready());
    return held.size === 0 ? all : all.filter(({ id }) => (held.get(id) ?? 0) <= scheduler.now);
  }

  function nextAt(): number | undefined {
    const calm = calmAt === Number.POSITIVE_INFINITY ? plan.faultyMs + skippedMs : undefined;
    const times = [scheduler.nextAt(), agenda[0]?.at, calm, ...held.values(), ...periods.hangsUntil()];
    let least: number | undefined;
    for (const at of times) if (at !== undefined && at > scheduler.now && at < (least ?? at + 1)) least = at;
    return least;
  }

  async function makeOne(all: readonly Ready[]): Promise<void> {
    const [first] = all;
    if (!first) return;
    const next = decide.which(all) ?? first;
    if (next.kind === 'timer') return scheduler.make(next);
    const twist = released.delete(next.id) ? undefined : decide.step(next, service);
    switch (twist?.kind) {
      case 'dies':
        die(next.process, twist.startsAfterMs);
        break;
      case 'freezes':
        freeze(next.process, twist.ms);
        break;
      case 'sleeps':
        sleep(next.process, twist);
        break;
      case 'slow':
        held.set(next.id, scheduler.now + twist.ms);
        released.add(next.id);
        scheduler.note(next.process, `waits ${twist.ms} ms for ${next.asked.name}`, '');
        break;
      default:
        held.delete(next.id);
        await scheduler.make(next, periods.happeningTo(next) ?? happeningOf(twist, next));
        if (twist?.kind === 'failed' || twist?.kind === 'lost') breakConnection(next, twist.code);
    }
  }

  function die(process: string, startsAfterMs: number): void {
    const found = service.roleOf(process);
    if (!found || found.running?.process !== process) return;
    service.kill(found);
    startLater(found.name, startsAfterMs);
  }

  function breakConnection({ process }: Ready, code: string): void {
    if (code === 'connection lost') service.disconnect(process);
  }

  function happeningOf(twist: Twist | undefined, next: Ready): Happening<unknown> {
    if (twist?.kind === 'lost' || twist?.kind === 'failed') return twist;
    const world = twist?.kind === 'stale' ? service.past.for(next)[twist.age] : undefined;
    return world === undefined ? { kind: 'done' } : { kind: 'stale', world };
  }

  /**
   * Where the clocks of an API and a worker differ, or the clock of the file server is behind, workers begin what nobody waits for any more, one
   * after the other, for longer than these worlds last. Callers are told all the same.
   */
  const clocksDiffer =
    plan.service.filesAheadMs < 0 ||
    Object.keys(plan.service.clocks).length > 0 ||
    plan.faults.some(({ kind }) => kind === 'clock' || kind === 'files clock');
  const openCalls = () => (clocksDiffer ? promises.open() : service.open());
  const openStill = () => openCalls() + service.runningBatches();
  const mustEnd = () => (clocksDiffer ? openCalls() : openStill());
  const isSettled = () => scheduler.now >= calmAt + QUIET_MS && openStill() === 0 && agenda.length === 0;

  function whatIsBroken(): string | undefined {
    const [mistake] = service.mistakes;
    if (mistake !== undefined) return `the world itself failed: ${mistake instanceof Error ? mistake.stack : mistake}`;
    return promises.broken();
  }

  /** Makes steps until something holds, or does not hold any more, or so much time has passed. */
  async function go(isOver: () => boolean, untilMs: number): Promise<boolean> {
    for (;;) {
      failure ??= whatIsBroken();
      if (failure !== undefined || isOver()) return true;
      if (scheduler.now >= untilMs) return false;
      const all = ready();
      if (all.length === 0) {
        const at = nextAt();
        scheduler.passTo(Math.ceil(Math.min(untilMs, at ?? untilMs))); // clocks tell whole ms
        while (agenda[0] && agenda[0].at <= scheduler.now) agenda.shift()?.run();
        await scheduler.settle();
        if (calmAt < Number.POSITIVE_INFINITY) promises.inTime(toldWithinMs, calmAt);
        const isDue = calmAt === Number.POSITIVE_INFINITY && scheduler.now >= plan.faultyMs + skippedMs;
        if (isDue && falling === 0) becomeCalm();
        continue;
      }
      steps++;
      if (Math.floor(scheduler.now / 1000) !== counted.second)
        counted = { second: Math.floor(scheduler.now / 1000), after: steps };
      if (steps - counted.after > MAX_STEPS_A_SECOND) {
        failure = `the world makes no end: ${MAX_STEPS_A_SECOND} steps in a second`;
        return true;
      }
      await makeOne(all);
    }
  }

  const { queueTimeoutMs, resultTimeoutMs } = plan.service;
  const toldWithinMs = queueTimeoutMs + resultTimeoutMs + SLACK_MS;
  const items = batches.reduce((sum, { cases, targets }) => sum + cases * targets.length, 0);
  /** In calm, items may run one after the other, and a dead worker's batch is taken over first. */
  const batchesMs = items === 0 ? 0 : TAKEN_OVER_MS + items * (ITEM_MS + resultTimeoutMs);

  async function live(): Promise<void> {
    await go(() => calmAt < Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    const isOver = await go(isSettled, calmAt + toldWithinMs + 1000 + batchesMs);
    if (!isOver && mustEnd() > 0) failure = `it does not settle: ${mustEnd()} are open`;
    if (failure !== undefined) return;
    const slots = service.open() === 0 ? service.slots() : 0;
    promises.left(slots === 0 ? [] : [`${slots} slots`]);
    await service.readHistory();
    await service.readBatches({ mustBeOver: !clocksDiffer });
    failure ??= whatIsBroken();
    if (looksAfterwards && failure === undefined) await lookAfterwards();
    over = failure === undefined;
  }

  async function lookAfterwards(): Promise<void> {
    killAll();
    service.endBatches(); // where clocks differ they may go on, and would begin items once more
    agenda.length = 0;
    scheduler.passTo(scheduler.now + ALL_SWEPT_AFTER_MS);
    skippedMs += ALL_SWEPT_AFTER_MS;
    const first = role('worker 1');
    if (first) service.start(first);
    const since = scheduler.now;
    await go(() => false, since + FIRST_SWEEPS_MS);
    if (first?.running && service.left().length > 0) {
      freeze(first.running.process, LATE_MS);
      await go(() => service.left().length === 0, since + ALL_SWEEPS_MS);
    }
    promises.left(service.left());
    failure ??= whatIsBroken();
  }

  return {
    service,
    live,
    result: (): Result => ({
      broken: over ? undefined : (failure ?? 'it did not come to its end'),
      ...{ trace: scheduler.trace, twists: decide.made, steps, livedMs: scheduler.now - skippedMs },
      ...{ calls: promises.arrivals(), answered: promises.answered, endings: promises.endings },
      checked: promises.checked,
      hash: () =>
        hash(
          'sha1',
          scheduler.trace
            .map(({ at, process, what, how, result }) => `${at} ${process} ${what} ${how} ${result}`)
            .join('\n'),
        ),
    }),
  };
}

type Parcel = { process: string; what: string; twist: Twist | undefined; deliver: () => void };

/** Brings a message: at once, late, twice or never. */
function carry({ scheduler }: Service, { process, what, twist, deliver }: Parcel): void {
  if (twist?.kind === 'dropped') scheduler.note(process, `${what} is lost`, '');
  else if (twist?.kind === 'late') scheduler.timeOf(process).setTimeout(deliver, twist.ms);
  else scheduler.tell(process, what, deliver);
  if (twist?.kind === 'twice') scheduler.timeOf(process).setTimeout(deliver, twist.ms);
}

function describe({ at: _, ...fault }: Fault): string {
  return Object.values(fault).join(' ');
}

const READS_NAMES = new Set(['open', 'openDirectory', 'opendir', 'readdir', 'readEntries', 'readFile', 'watch']);
const TAKES_ROOM = new Set(['open', 'write', 'writeFile', 'mkdir', 'symlink']);

type Step = Extract<Ready, { kind: 'step' }>;
type Place = { who: string | null; directory: string | null };

/** Whether something is asked by this process, and in this directory. */
function isAt({ who, directory }: Place, { asked }: Step): boolean {
  if (who !== null && asked.process.split('.')[0] !== who) return false;
  return directory === null || asked.on.some((path) => path.includes(`/${directory}`));
}

/** What fails or hangs for a while: the disk in one of several ways, or the queue store as a whole. */
function createPeriods({ store, promises, scheduler }: Service) {
  let errors: (Extract<Fault, { kind: 'errors' }> & { until: number })[] = [];
  let hangs: (Extract<Fault, { kind: 'hang' }> & { until: number })[] = [];
  let awayUntil = 0;
  const copies = new Map<Fault, StoreCopy>();
  let comeBack = () => {};

  function failsOn(next: Step): DiskError | undefined {
    const { asked } = next;
    const hits = errors.find(({ code, until, ...place }) => {
      if (scheduler.now >= until || !isAt(place, next)) return false;
      if (code === 'ENOSPC') return asked.writes && TAKES_ROOM.has(asked.name);
      if (code === 'EROFS') return asked.writes;
      return code === 'EMFILE' ? READS_NAMES.has(asked.name) : true;
    });
    return hits?.code;
  }

  return {
    begin(fault: Extract<Fault, { kind: 'errors' | 'hang' }>): void {
      const until = scheduler.now + fault.ms;
      if (fault.kind === 'hang') hangs.push({ ...fault, until });
      else errors.push({ ...fault, until });
    },
    withoutHanging(all: Ready[]): Ready[] {
      const now = hangs.filter(({ until }) => until > scheduler.now);
      if (now.length === 0) return all;
      const isHanging = (next: Ready) =>
        next.kind === 'step' && next.asked.port !== 'queue' && now.some((hang) => isAt(hang, next));
      return all.filter((next) => !isHanging(next));
    },
    hangsUntil: () => hangs.map(({ until }) => until),
    copyStore(fault: Fault): void {
      copies.set(fault, store.copy());
    },
    oldCopy: (fault: Fault) => copies.get(fault),
    storeAway(fault: Extract<Fault, { kind: 'store' }>, later: (ms: number, run: () => void) => void): void {
      const { back, awayMs } = fault;
      if (back !== 'whole') promises.lostAllData({ jobsComeBack: back === 'old' });
      const kept = back === 'old' ? copies.get(fault) : store.copy();
      awayUntil = scheduler.now + awayMs;
      if (back === 'empty') store.forgetAll();
      else if (kept) store.restore(kept);
      comeBack = () => {
        awayUntil = 0;
      };
      later(awayMs, comeBack);
    },
    end(): void {
      errors = [];
      hangs = [];
      comeBack();
    },
    happeningTo(next: Step): Happening<unknown> | undefined {
      if (next.asked.port === 'queue')
        return awayUntil > scheduler.now ? { kind: 'failed', code: 'not sent' } : undefined;
      const code = errors.length === 0 ? undefined : failsOn(next);
      return code === undefined ? undefined : { kind: 'failed', code };
    },
  };
}

/** A second one, while somebody sleeps already, would only make the world long. */
const MAX_SLEEPS = 1;

/** Draws what deviates, and remembers it; or takes what was drawn before. */
function createDecider({ seed, rates }: Plan, given: Twists | undefined) {
  const dice = createDice(seed ^ 0x5bd1e995);
  const made = new Map<string, Twist>();
  const counts = new Map<string, number>();
  let isOn = true;
  let sleeps = 0;

  /** `what` and its number are the key of a twist. */
  function twist(what: string, draw: () => Twist | undefined): Twist | undefined {
    const count = (counts.get(what) ?? 0) + 1;
    counts.set(what, count);
    const found = given ? given.get(`${what}${count}`) : draw();
    if (found) made.set(`${what}${count}`, found);
    return found;
  }

  return {
    made,
    isCalm(): void {
      isOn = false;
    },
    which(all: readonly Ready[]): Ready | undefined {
      if (!isOn || all.length < 2) return undefined;
      const chosen = twist('#', () =>
        dice.chance(rates.other) ? { kind: 'other', nth: dice.whole(0, all.length - 1) } : undefined,
      );
      return chosen?.kind === 'other' ? all[chosen.nth % all.length] : undefined;
    },
    step(next: Step, service: Service): Twist | undefined {
      if (!isOn) return undefined;
      return twist(`${next.process} `, () => {
        const drawn = drawTwist(dice, { rates, next, service });
        return drawn?.kind === 'sleeps' && ++sleeps > MAX_SLEEPS ? undefined : drawn;
      });
    },
    message(process: string): Twist | undefined {
      if (!isOn) return undefined;
      return twist(`${process} m`, () => {
        if (dice.chance(rates.dropped)) return { kind: 'dropped' };
        if (dice.chance(rates.late)) return { kind: 'late', ms: dice.spread(1, 4000) };
        return dice.chance(rates.twice) ? { kind: 'twice', ms: dice.spread(1, 1000) } : undefined;
      });
    },
  };
}

/** What may be answered from a cache. What opens something goes to the file server. */
const LOOKS = new Set([
  'lstat',
  'stat',
  'exists',
  'access',
  'readdir',
  'readEntries',
  'readFile',
  'readlink',
  'realpath',
]);

type Drawing = { rates: Rates; next: Step; service: Service };

function drawTwist(dice: Dice, { rates, next, service }: Drawing): Twist | undefined {
  const { asked } = next;
  const at = dice.fraction();
  let upTo = 0;
  const within = (rate: number) => {
    upTo += rate;
    return at < upTo;
  };
  if (within(rates.dies)) return { kind: 'dies', startsAfterMs: dice.spread(1, 3000) };
  if (within(rates.freezes)) return { kind: 'freezes', ms: dice.spread(1000, 12_000) };
  if (within(rates.sleeps)) return drawSleep(dice);
  if (within(rates.slow))
    return { kind: 'slow', ms: dice.chance(0.9) ? dice.spread(1, 1000) : dice.spread(1000, 20_000) };
  if (asked.port === 'queue') return within(rates.queue) ? drawQueueFault(dice, asked.name) : undefined;
  if (!asked.writes) {
    if (asked.port !== 'files' || !LOOKS.has(asked.name) || !within(rates.stale)) return undefined;
    const copies = service.past.for(next).length;
    return copies === 0 ? undefined : { kind: 'stale', age: dice.whole(0, copies - 1) };
  }
  if (within(rates.diskLost)) return { kind: 'lost', code: 'EIO' };
  // A Go client runs what it cannot delete, again at each look: no service can help that.
  if (asked.port === 'client' && asked.name === 'unlink') return undefined;
  return within(rates.diskFailed)
    ? { kind: 'failed', code: dice.pick(['EIO', 'ENOSPC', 'EACCES', 'ESTALE']) }
    : undefined;
}

function drawSleep(dice: Dice): Twist {
  return {
    ...{ kind: 'sleeps', ms: dice.spread(60_000, 30 * 60_000), others: dice.pick(['dead', 'asleep']) },
    ...{ stayMs: dice.spread(1, 12_000), backBeforeMs: dice.spread(500, 5000) },
  };
}

/** A command that was lost was done or not; one that nobody answered in time was done. */
function drawQueueFault(dice: Dice, name: string): Twist {
  if (name === 'connect' || name === 'subscribe') return { kind: 'failed', code: 'connection lost' };
  return dice.pick<Twist>([
    { kind: 'lost', code: 'connection lost' },
    { kind: 'failed', code: 'connection lost' },
    { kind: 'lost', code: 'timed out' },
    { kind: 'failed', code: 'refused' },
  ]);
}
