import { basename, dirname, join } from 'node:path';
import type { SdkName } from '../../../src/shared/contract/client-kinds.ts';
import type { Time } from '../../../src/shared/ports/time.ts';
import type { Gate } from './gate.ts';

/** The SDKs that clients are made with. `node` speaks the dialect `rule`, the others speak `ice`. */
export type Sdk = Exclude<SdkName, 'unknown'>;

/** What clients and the cleaner ask of a disk: Node's names, at once, errors with a `code`. */
export type ClientDisk = {
  exists(path: string): boolean;
  lstat(path: string): { mtimeMs: number };
  readdir(path: string): readonly string[];
  readFile(path: string): string;
  writeFile(path: string, text: string, options?: { flag?: string }): unknown;
  rename(from: string, to: string): unknown;
  unlink(path: string): unknown;
  mkdir(path: string): unknown;
  rmdir(path: string): unknown;
};

/**
 * The steps of a client, in order. `run`: the rule begins. `write`: it has run, and nothing of its answer is written. `finish`: the answer
 * is stored under its temporary name, or its first part is there. `done`: the request is dealt with.
 */
export type Step = 'register' | 'scan' | 'read' | 'delete' | 'run' | 'write' | 'finish' | 'done' | 'beat';

export type Behaviour = {
  /** Whether it deletes a request before it runs it, or after it has answered. */
  deletes: 'first' | 'last';
  /** `in-two-parts`: the second part is appended, and stands alone when the first one was removed meanwhile. */
  writes: 'in-place' | 'rename' | 'in-two-parts';
  /** How long the rule runs. */
  runsMs: number;
  /** It is told to shut down when it comes to this step for the first time. What it still does then depends on its SDK. */
  leavesBefore: Exclude<Step, 'register'> | null;
  /** It is killed when it comes to this step, which does not happen. */
  diesAt: Step | null;
  /** `never`: the rule ran, and its answer is lost. `null`: what a crash leaves; a Go client then ends. */
  answers: 'once' | 'twice' | 'garbage' | 'null' | 'late' | 'never';
  /** How much longer than `runsMs` an answer takes that is `late`. */
  lateMs: number;
  /** Between the parts of an answer `in-two-parts`, and between the answers of one who answers `twice`. */
  betweenMs: number;
  /** Whether a scan that finds no directory makes it. */
  makesDirectoryAgain: boolean;
  scansEveryMs: number;
  beatsEveryMs: number;
};

type Options = {
  /** The name of its process. */
  name: string;
  sdk: Sdk;
  /** Whether it has a registration and a heartbeat, or is just a directory. */
  registered: boolean;
  app: number;
  lane: string | null;
  /** Its name if not given. The published SDKs draw a new one at every start. */
  address?: string;
  sharedDir: string;
  /** Where it differs from its SDK: see `behaviourOf`. */
  behaviour?: Partial<Behaviour>;
  gate: Gate<ClientDisk>;
  time: Time;
  /** Told each time that a rule really runs, before anything of its answer is written. `text`: the request. */
  onRun(mockId: string, text: string): void;
};

export type SimulatedClient = {
  address: string;
  directory: string;
  /** Null for one that is just a directory. */
  registrationPath: string | null;
  heartbeatPath: string | null;
  /** Lays down what a client has that has started already, past the gate: for the beginning of a small world. `start` then does not register. */
  establish(disk: ClientDisk): void;
  /** Resolves when the client has left or died; rejects for what is no error of the disk. */
  start(): Promise<'left' | 'died'>;
  /** Tells it to shut down. */
  leave(): void;
  /** Kills it: nothing follows what it has asked for already. */
  die(): void;
};

/** In what the SDKs differ. */
type Habits = {
  /** The name of its files and of its directory. */
  fileName(address: string): string;
  /** Runs what it could not delete. */
  runsWhatIsGone: boolean;
  /** Runs requests in the order of their names, not of the listing. */
  sorts: boolean;
  /** Runs several requests at once and beats meanwhile: it has a thread for the heartbeat. */
  together: boolean;
  /** Looks at once when it starts, not after a pause. */
  looksAtOnce: boolean;
  /** A look that took longer than the pause is followed by another one at once. */
  ticks: boolean;
  makesDirectory: boolean;
  /** So long it waits for what it runs before it takes itself back. */
  patienceMs: number;
  /** So long it tries to put an answer in place. */
  triesToAnswerForMs: number;
  /** So often it tries again to remove its directory when something was put into it meanwhile. */
  triesToRemove: number;
  draftOf(path: string, count: number): string;
  registration(who: { address: string; app: number; lane: string | null; now: number; startedAt: number }): string;
};

const ice = {
  fileName: (address: string) => address.replace(/[:/]/g, '_'),
  runsWhatIsGone: false,
  sorts: false,
  together: false,
  looksAtOnce: false,
  ticks: false,
  makesDirectory: false,
  patienceMs: 0,
  triesToAnswerForMs: 0,
  triesToRemove: 1,
  draftOf: (path: string) => `${path}.tmp`,
};

const habitsOf: Record<Sdk, Habits> = {
  node: {
    ...ice,
    fileName: (address) => address,
    together: true,
    looksAtOnce: true,
    makesDirectory: true,
    patienceMs: Number.POSITIVE_INFINITY,
    triesToAnswerForMs: 55_000,
    triesToRemove: 6,
    draftOf: (path, count) => join(dirname(path), `.${basename(path)}.${count.toString(16).padStart(8, '0')}.tmp`),
    registration: ({ address, app, lane, startedAt }) =>
      `${JSON.stringify({ address, app, lane, dialect: 'rule', sdk: 'node', lastHeartbeat: startedAt, startTime: startedAt }).slice(0, -1)},"loadedVersion":1,"leafNodes":[{"type":7,"clazz":"com.sample.Answer"}]}`,
  },
  java: {
    ...ice,
    patienceMs: 5000,
    registration: ({ lane, ...who }) =>
      compact(who, lane, '{"type":7,"clazz":"com.sample.Answer","name":"Answer","desc":"","order":100}'),
  },
  go: {
    ...ice,
    runsWhatIsGone: true,
    sorts: true,
    ticks: true,
    patienceMs: Number.POSITIVE_INFINITY,
    registration: ({ lane, ...who }) =>
      compact(
        who,
        lane,
        '{"type":7,"clazz":"com.sample.Answer","order":100,"roamKeys":[{"direction":"write","accessMode":"direct","accessMethod":"put","keyParts":[{"type":"literal","value":"exact"}]}]}',
      ),
  },
  python: {
    ...ice,
    looksAtOnce: true,
    patienceMs: 2000,
    registration: ({ address, app, lane, now, startedAt }) =>
      `{"address": ${JSON.stringify(address)}, "app": ${app}, "lane": ${JSON.stringify(lane)}, "leafNodes": [{"type": 7, "clazz": "com.sample.Answer", "name": "", "desc": "", "order": 100, "iceFields": [], "hideFields": [], "roamKeys": []}], "lastHeartbeat": ${now}, "startTime": ${startedAt}, "loadedVersion": 1}`,
  },
};

/** A registration as Java and Go print it: no lane on the trunk. */
function compact(
  who: { address: string; app: number; now: number; startedAt: number },
  lane: string | null,
  leaf: string,
) {
  const laneMember = lane === null ? '' : `,"lane":${JSON.stringify(lane)}`;
  return `{"address":${JSON.stringify(who.address)},"app":${who.app}${laneMember},"leafNodes":[${leaf}],"lastHeartbeat":${who.now},"startTime":${who.startedAt},"loadedVersion":1}`;
}

/** What the clients of an SDK do by themselves, with its default settings. */
export function behaviourOf(sdk: Sdk): Behaviour {
  return {
    deletes: 'first',
    writes: 'rename',
    runsMs: 20,
    leavesBefore: null,
    diesAt: null,
    answers: 'once',
    lateMs: 90_000,
    betweenMs: 500,
    makesDirectoryAgain: sdk === 'node',
    scansEveryMs: sdk === 'node' ? 1000 : 2000,
    beatsEveryMs: 10_000,
  };
}

const EXACT = '9007199254740993'; // no 64-bit float has this value
const PROCESS = '"[1:Answer:N:0]"';
const AT = 1_700_000_000_000;

/** The result of an execution as the clients of an SDK write it, to the byte. */
export function answerOf(mockId: string, sdk: Sdk): string {
  const id = JSON.stringify(mockId);
  const data = dataOf(mockId, sdk);
  switch (sdk) {
    case 'node':
      return `{"mockId":${id},"success":true,"the service":${data},"process":${PROCESS},"error":null,"executeAt":${AT},"ts":${AT},"outcome":null}`;
    case 'java':
    case 'go':
      return `{"mockId":${id},"success":true,"roam":${data},"trace":"Sim0Trace01","ts":${AT},"process":${PROCESS},"executeAt":${AT}}`;
    case 'python':
      return `{"mockId": ${id}, "executeAt": ${AT}, "success": true, "trace": "Sim0Trace01", "ts": ${AT}, "roam": ${data}, "process": ${PROCESS}}`;
  }
}

/** What the caller of the service is told: the same members and values, the data under its public name, no member of the interface missing. */
export function bodyOf(mockId: string, sdk: Sdk): string {
  const id = JSON.stringify(mockId);
  const data = dataOf(mockId, sdk);
  switch (sdk) {
    case 'node':
      return answerOf(mockId, sdk);
    case 'java':
    case 'go':
      return `{"mockId":${id},"success":true,"the service":${data},"trace":"Sim0Trace01","ts":${AT},"process":${PROCESS},"executeAt":${AT},"error":null}`;
    case 'python':
      return `{"mockId":${id},"executeAt":${AT},"success":true,"trace":"Sim0Trace01","ts":${AT},"the service":${data},"process":${PROCESS},"error":null}`;
  }
}

/** One number that is lost when it is written anew, and one text that each SDK prints in its own way. */
function dataOf(mockId: string, sdk: Sdk): string {
  const id = JSON.stringify(mockId);
  switch (sdk) {
    case 'node':
    case 'java':
      return `{"exact":${EXACT},"of":${id},"text":"é<"}`;
    case 'go':
      return `{"exact":${EXACT},"of":${id},"text":"é\\u003c"}`;
    case 'python':
      return `{"exact": ${EXACT}, "of": ${id}, "text": "\\u00e9<"}`;
  }
}

/** What a client writes that answers with garbage: no further byte makes an answer of it. */
export const garbageOf = (mockId: string) => `<no answer to ${mockId}>`;

const ANSWER_AGAIN_MS = 250;
const REMOVE_AGAIN_MS = 100;
const UNREAD_FOR_MS = 2000;
const LOOKS_FOR_READERS_MS = 200;
const MAX_RUNNING = 100;

/** A client of the file channel that does what the clients of its SDK do. Each of its file operations passes the gate by itself. */
export function createClient({ sdk, app, lane, sharedDir, registered, onRun, ...options }: Options): SimulatedClient {
  const { time, address = options.name } = options;
  const habits = habitsOf[sdk];
  const behaviour: Behaviour = { ...behaviourOf(sdk), ...options.behaviour };
  const fileName = habits.fileName(address);
  const directory = join(sharedDir, 'mock', String(app), fileName);
  const home = join(sharedDir, 'clients', String(app), ...(lane === null ? [] : ['lane', lane]));
  const registrationPath = join(home, `m_${fileName}.json`);
  const heartbeatPath = join(home, `b_${fileName}.json`);
  const ended = Promise.withResolvers<'left' | 'died'>();
  const life = createLife(options);
  const { files, pause } = life;
  const running = new Map<string, Promise<void>>();
  const beatTicks = Math.max(1, Math.floor(behaviour.beatsEveryMs / behaviour.scansEveryMs));
  let tick: Promise<unknown> = Promise.resolve();
  let beating: Promise<unknown> = Promise.resolve();
  let leaving = false;
  let ticks = 0;
  let drafts = 0;
  let startedAt = 0;
  let established = false;

  async function live(): Promise<void> {
    if (!established) startedAt = time.now();
    // A program that cannot start is started again.
    while (!established && !(await tried(register()))) await pause(behaviour.scansEveryMs);
    if (habits.together && registered) beats().catch(ended.reject);
    if (!habits.looksAtOnce) await pause(behaviour.scansEveryMs);
    while (!leaving) {
      const since = time.monotonic();
      tick = look();
      await tick;
      const took = habits.ticks ? time.monotonic() - since : 0;
      await pause(Math.max(0, behaviour.scansEveryMs - took));
    }
  }

  function establish(disk: ClientDisk): void {
    established = true;
    startedAt = time.now();
    makeDirectoriesIn(disk, directory);
    if (!registered) return;
    makeDirectoriesIn(disk, home);
    for (const [path, text] of knownBy()) disk.writeFile(path, text);
  }

  async function register(): Promise<void> {
    await at('register');
    if (habits.makesDirectory || !registered) await makeDirectories(directory);
    if (!registered) return;
    await makeDirectories(home);
    await makeKnown();
  }

  async function makeKnown(): Promise<void> {
    for (const [path, text] of knownBy()) await put(path, text);
  }

  function knownBy(): [path: string, text: string][] {
    const text = registration();
    return [
      [registrationPath, text],
      [heartbeatPath, heartbeat()],
      [join(home, '_latest.json'), text],
    ];
  }

  const registration = () => habits.registration({ address, app, lane, now: time.now(), startedAt });

  async function look(): Promise<void> {
    await tried(takeAll());
    if (habits.together || !registered || leaving) return;
    ticks++;
    if (ticks % beatTicks === 0) await tried(beat());
  }

  async function beats(): Promise<void> {
    for (;;) {
      await pause(behaviour.beatsEveryMs);
      if (leaving) return;
      beating = tried(beat());
      await beating;
    }
  }

  async function beat(): Promise<void> {
    await at('beat');
    if (habits.together) await makeDirectories(home);
    const known = await files.exists(registrationPath);
    if (!known && !habits.together) return makeKnown();
    if (!known) await put(registrationPath, registration());
    await put(heartbeatPath, heartbeat());
  }

  function heartbeat(): string {
    const now = time.now();
    return sdk === 'python'
      ? `{"lastHeartbeat": ${now}, "loadedVersion": 1}`
      : `{"lastHeartbeat":${now},"loadedVersion":1}`;
  }

  async function takeAll(): Promise<void> {
    await at('scan');
    const listed = await files.readdir(directory).catch((error) => {
      if (codeOf(error) !== 'ENOENT') throw error;
    });
    if (listed === undefined && behaviour.makesDirectoryAgain) await makeDirectories(directory);
    const names = (listed ?? []).filter((name) => name.endsWith('.json') && !name.endsWith('_result.json'));
    for (const name of habits.sorts ? names.toSorted() : names) {
      if (!habits.together) await tried(handle(name));
      else if (!name.startsWith('.') && !running.has(name) && running.size < MAX_RUNNING && !leaving) take(name);
    }
  }

  function take(name: string): void {
    const handled = tried(handle(name)).then(
      () => void running.delete(name),
      (error) => ended.reject(error),
    );
    running.set(name, handled);
  }

  async function handle(name: string): Promise<void> {
    const path = join(directory, name);
    await at('read');
    const text = await files.readFile(path);
    const mockId = mockIdIn(text);
    if (mockId === undefined) return; // what cannot be read stays there
    if (behaviour.deletes === 'first') {
      await at('delete');
      const deleted = await tried(files.unlink(path));
      if (!deleted && !habits.runsWhatIsGone) return;
    }
    await at('run');
    onRun(mockId, text);
    if (behaviour.runsMs > 0) await pause(behaviour.runsMs);
    await answer(mockId);
    if (behaviour.deletes === 'last') {
      await at('delete');
      await tried(files.unlink(path));
    }
    await at('done');
  }

  async function answer(mockId: string): Promise<void> {
    const { answers, lateMs, betweenMs } = behaviour;
    if (answers === 'late') await pause(lateMs);
    await at('write');
    if (answers === 'never') return;
    const path = join(directory, `${mockId}_result.json`);
    const text = answers === 'garbage' ? garbageOf(mockId) : answers === 'null' ? 'null' : answerOf(mockId, sdk);
    await putAnswer(path, text);
    if (answers === 'null' && sdk === 'go') die();
    if (answers !== 'twice') return;
    await pause(betweenMs);
    await putAnswer(path, text);
  }

  async function putAnswer(path: string, text: string): Promise<void> {
    const until = time.monotonic() + habits.triesToAnswerForMs;
    while (!(await tried(writeAnswer(path, text)))) {
      if (time.monotonic() >= until) return;
      await pause(ANSWER_AGAIN_MS);
    }
  }

  async function writeAnswer(path: string, text: string): Promise<void> {
    switch (behaviour.writes) {
      case 'rename':
        return put(path, text, () => at('finish'));
      case 'in-place':
        return files.writeFile(path, text);
      case 'in-two-parts': {
        const half = Math.floor(text.length / 2);
        await files.writeFile(path, text.slice(0, half));
        await pause(behaviour.betweenMs);
        await at('finish');
        return files.writeFile(path, text.slice(half), { flag: 'a' });
      }
    }
  }

  /** Puts a whole file in place by way of a temporary name. */
  async function put(path: string, text: string, beforeRename: () => Promise<void> = async () => {}): Promise<void> {
    const draft = habits.draftOf(path, drafts++);
    try {
      await files.writeFile(draft, text);
      await beforeRename();
      await files.rename(draft, path);
    } catch (error) {
      if (habits.together) await tried(files.unlink(draft));
      throw error;
    }
  }

  async function makeDirectories(path: string): Promise<void> {
    try {
      await files.mkdir(path);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return;
      if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
      await makeDirectories(dirname(path));
      await makeDirectories(path);
    }
  }

  /** What happens instead of a step, or beside it. */
  async function at(step: Step): Promise<void> {
    if (behaviour.leavesBefore === step) leave();
    if (behaviour.diesAt !== step) return;
    die();
    await forever();
  }

  function leave(): void {
    if (leaving) return;
    leaving = true;
    takeBack().then(() => ended.resolve('left'), ended.reject);
  }

  /** Some SDKs give up waiting for what still runs: its answer then finds no directory. */
  async function takeBack(): Promise<void> {
    await undefined; // the look that leads here may not be known as the tick yet
    const quiet = tick.then(() => Promise.all(running.values()));
    await (habits.patienceMs === Number.POSITIVE_INFINITY ? quiet : Promise.race([quiet, pause(habits.patienceMs)]));
    if (habits.together) await untilRead();
    await beating;
    await removeTree(life, directory, habits.triesToRemove);
    if (!registered) return;
    await tried(files.unlink(registrationPath));
    await tried(files.unlink(heartbeatPath));
  }

  async function untilRead(): Promise<void> {
    const until = time.monotonic() + UNREAD_FOR_MS;
    while (time.monotonic() < until) {
      const names = (await orNothing(files.readdir(directory))) ?? [];
      if (!names.some((name) => name.endsWith('_result.json'))) return;
      await pause(LOOKS_FOR_READERS_MS);
    }
  }

  function die(): void {
    life.end();
    ended.resolve('died');
  }

  return {
    address,
    directory,
    registrationPath: registered ? registrationPath : null,
    heartbeatPath: registered ? heartbeatPath : null,
    establish,
    start() {
      live().catch(ended.reject);
      return ended.promise;
    },
    leave,
    die,
  };
}

type CleanerOptions = {
  /** The name of its process. */
  name: string;
  sharedDir: string;
  /** The apps that the published server knows. */
  apps: readonly number[];
  /** So long a client may be silent, and so often it cleans. */
  clientTimeoutMs?: number;
  gate: Gate<ClientDisk>;
  time: Time;
};

export type Cleaner = {
  /** Cleans every `clientTimeoutMs`. Resolves when it was stopped; rejects for what is no error of the disk. */
  start(): Promise<void>;
  stop(): void;
  /** Cleans once. */
  clean(): Promise<void>;
};

const FORGOTTEN_MS = 120_000;
const HEARTBEAT = /^b_(.+)\.json$/;

/** The cleaner of the published server, where one runs beside the service. It knows nothing of executions. */
export function createCleaner({ sharedDir, apps, clientTimeoutMs = 30_000, ...options }: CleanerOptions): Cleaner {
  const { time } = options;
  const life = createLife(options);
  const { files } = life;
  const stopped = Promise.withResolvers<void>();

  async function clean(): Promise<void> {
    for (const app of apps) {
      const trunk = join(sharedDir, 'clients', String(app));
      const lanes = (await list(join(trunk, 'lane'))).map((lane) => join(trunk, 'lane', lane));
      await removeSilent(trunk, app, true);
      for (const lane of lanes) {
        await removeSilent(lane, app, false);
        if (await isEmpty(lane)) await tried(files.rmdir(lane));
      }
      const mock = join(sharedDir, 'mock', String(app));
      const names = await list(mock);
      for (const name of names) await removeForgotten(join(mock, name));
      for (const name of names) await removeUnused(join(mock, name), `b_${name}.json`, [trunk, ...lanes]);
    }
  }

  /** Clients without a heartbeat for too long. The trunk keeps one, so that somebody is known there. */
  async function removeSilent(home: string, app: number, isTrunk: boolean): Promise<void> {
    const beats: { name: string; at: number }[] = [];
    for (const file of await list(home)) {
      const name = HEARTBEAT.exec(file)?.[1];
      const at =
        name === undefined ? undefined : numberIn(await orNothing(files.readFile(join(home, file))), 'lastHeartbeat');
      if (name !== undefined && at !== undefined) beats.push({ name, at });
    }
    const silent = beats.filter(({ at }) => time.now() - at >= clientTimeoutMs).toSorted((a, b) => a.at - b.at);
    if (isTrunk && silent.length === beats.length) silent.pop();
    for (const { name } of silent) {
      await removeTree(life, join(sharedDir, 'mock', String(app), name), 1);
      await tried(files.unlink(join(home, `m_${name}.json`)));
      await tried(files.unlink(join(home, `b_${name}.json`)));
    }
  }

  async function removeForgotten(directory: string): Promise<void> {
    for (const name of (await list(directory)).filter((file) => file.endsWith('.json'))) {
      const path = join(directory, name);
      const at = name.endsWith('_result.json')
        ? (await orNothing(files.lstat(path)))?.mtimeMs // simulated answers all have the same `executeAt`
        : numberIn(await orNothing(files.readFile(path)), 'createAt');
      if (at !== undefined && time.now() - at > FORGOTTEN_MS) await tried(files.unlink(path));
    }
  }

  /** Empty directories, also that of a client that runs something, and those of clients without a heartbeat file. */
  async function removeUnused(directory: string, heartbeat: string, homes: readonly string[]): Promise<void> {
    if (await isEmpty(directory)) return void (await tried(files.rmdir(directory)));
    for (const home of homes) if (await orNothing(files.exists(join(home, heartbeat)))) return;
    await removeTree(life, directory, 1);
  }

  async function isEmpty(directory: string): Promise<boolean> {
    return (await orNothing(files.readdir(directory)))?.length === 0;
  }

  async function list(directory: string): Promise<readonly string[]> {
    return (await orNothing(files.readdir(directory))) ?? [];
  }

  async function cleanAlways(): Promise<void> {
    for (;;) {
      await life.pause(clientTimeoutMs);
      await clean();
    }
  }

  return {
    start() {
      cleanAlways().catch(stopped.reject);
      return stopped.promise;
    },
    stop() {
      life.end();
      stopped.resolve();
    },
    clean,
  };
}

type Life = ReturnType<typeof createLife>;

/** What a process does to files and time until it ends. Afterwards it asks for nothing, and nothing reaches it. */
function createLife({ name: process, gate, time }: { name: string; gate: Gate<ClientDisk>; time: Time }) {
  let over = false;

  async function ask<T>(name: string, on: string[], writes: boolean, act: (disk: ClientDisk) => T): Promise<T> {
    if (over) return forever();
    try {
      const told = await gate({ process, port: 'client', name, on, writes }, act);
      return over ? forever() : told;
    } catch (error) {
      if (over) return forever();
      throw error;
    }
  }

  const files = {
    exists: (path: string) => ask('exists', [path], false, (disk) => disk.exists(path)),
    lstat: (path: string) => ask('lstat', [path], false, (disk) => disk.lstat(path)),
    readdir: (path: string) => ask('readdir', [path], false, (disk) => disk.readdir(path)),
    readFile: (path: string) => ask('readFile', [path], false, (disk) => disk.readFile(path)),
    writeFile: (path: string, text: string, options?: { flag?: string }) =>
      ask('writeFile', [path], true, (disk) => void disk.writeFile(path, text, options)),
    rename: (from: string, to: string) => ask('rename', [from, to], true, (disk) => void disk.rename(from, to)),
    unlink: (path: string) => ask('unlink', [path], true, (disk) => void disk.unlink(path)),
    mkdir: (path: string) => ask('mkdir', [path], true, (disk) => void disk.mkdir(path)),
    rmdir: (path: string) => ask('rmdir', [path], true, (disk) => void disk.rmdir(path)),
  };

  return {
    files,
    pause: (ms: number) => new Promise<void>((resolve) => void time.setTimeout(() => over || resolve(), ms)),
    end(): void {
      over = true;
    },
  };
}

/** Removes a directory and the files in it; so often, when somebody puts something into it meanwhile. */
async function removeTree({ files, pause }: Life, directory: string, tries: number): Promise<void> {
  for (let left = tries; left > 0; left--) {
    const names = await orNothing(files.readdir(directory));
    if (names === undefined) return;
    for (const name of names) await tried(files.unlink(join(directory, name)));
    if (await tried(files.rmdir(directory))) return;
    if (left > 1) await pause(REMOVE_AGAIN_MS);
  }
}

function makeDirectoriesIn(disk: ClientDisk, path: string): void {
  if (disk.exists(path)) return;
  makeDirectoriesIn(disk, dirname(path));
  disk.mkdir(path);
}

/** Whether it worked. An error of the disk is one that clients log; any other is a mistake in this file. */
async function tried(operation: Promise<unknown>): Promise<boolean> {
  return operation.then(
    () => true,
    (error) => {
      if (codeOf(error) === '') throw error;
      return false;
    },
  );
}

async function orNothing<T>(operation: Promise<T>): Promise<T | undefined> {
  return operation.catch((error) => {
    if (codeOf(error) === '') throw error;
    return undefined;
  });
}

/** The code of a system call that failed. A failed assertion has a code as well, and must not pass for one. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^E[A-Z0-9]+$/.test(code) ? code : '';
}

const forever = () => new Promise<never>(() => {});

/** The execution that a request names. Undefined when it is no request, or not complete. */
function mockIdIn(text: string): string | undefined {
  const value = memberOf(text, 'mockId');
  return typeof value === 'string' ? value : undefined;
}

function numberIn(text: string | undefined, key: string): number | undefined {
  const value = text === undefined ? undefined : memberOf(text, key);
  return typeof value === 'number' ? value : undefined;
}

function memberOf(text: string, key: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null
      ? Object.entries(value).find(([name]) => name === key)?.[1]
      : undefined;
  } catch {
    return undefined;
  }
}
