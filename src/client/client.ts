import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { leafNodesOf } from './analyzer/leaf-nodes.ts';
import { checkDirectory } from './check-directory.ts';
import { checkOptions } from './check-options.ts';
import type { HandleError } from './engine/node.ts';
import { type Heart, startHeart } from './heart.ts';
import { type DataSchema, keysOfSchema } from './leaves/data-schema.ts';
import type { LeafClasses, Leaves } from './leaves/leaf.ts';
import { createRegistry } from './leaves/registry.ts';
import { placesOf } from './places.ts';
import { register, unregister } from './registration.ts';
import { answerRequest } from './requests/answer-request.ts';
import { openInbox } from './requests/inbox.ts';
import { createTakings } from './requests/takings.ts';
import { openRuleSource } from './rules/rule-source.ts';
import { createRecorder, type RecordOptions } from './runs/recorder.ts';
import {
  type RunRequest,
  type RunResult,
  runInProcess,
  runSceneInProcess,
  type SceneRequest,
  type SceneResult,
} from './runs/run-in-process.ts';
import { watchStrayErrors } from './runs/stray-errors.ts';
import { openTelemetry } from './runs/telemetry.ts';

export type { Data } from './engine/data/data.ts';
export type { Value } from './engine/data/values.ts';
export type { ErrorState, State } from './engine/state.ts';
export type { DataSchema } from './leaves/data-schema.ts';
export type {
  DeclaredType,
  FieldDefinition,
  FieldType,
  FlowLeaf,
  Leaf,
  LeafClass,
  LeafClasses,
  LeafComparison,
  LeafDefinition,
  Leaves,
  NoneLeaf,
  ResultLeaf,
  ValueType,
} from './leaves/leaf.ts';
// biome-ignore lint/performance/noBarrelFile: this file is the door of the package.
export { describeLeaf } from './leaves/leaf.ts';
export type { LeafMaker } from './leaves/leaves-for.ts';
export { leavesFor } from './leaves/leaves-for.ts';
export type { Mock, Mocks } from './leaves/stand-ins.ts';
export type { DryRunResult, LoadedRules, LoadOptions, RuleObjects } from './runs/load-objects.ts';
export type { TestOptions } from './runs/load-rules.ts';
export { loadRules, testRule } from './runs/load-rules.ts';
export type { RecordOptions } from './runs/recorder.ts';
export type { RunRequest, RunResult, RunStep, SceneRequest, SceneResult } from './runs/run-in-process.ts';

export type RuleClientOptions<D = unknown, L extends LeafClasses<D> = LeafClasses<D>> = {
  /** The app whose rules this client runs. */
  app: number;
  /** The directory that the rule server and its clients share. */
  sharedDir: string;
  leaves: Leaves<L>;
  /** The type of the app's data, as a Standard Schema: `run` and the form get its types. No run is checked with it. */
  schema?: DataSchema<D>;
  /**
   * Recommended: refuses to run a rule of which a node is left out, because its class is not registered or its file cannot be
   * read. Otherwise the rest of the rule runs without it, as in the other SDKs: a consequence without its condition, too.
   */
  strict?: boolean;
  /** Registers in a lane instead of the trunk. */
  lane?: string;
  /**
   * The client's name for others; a new name for every start when not given. A client with a name of its own flushes its directory after it took
   * a request, so that after a loss of power it does not find it again.
   */
  address?: string;
  /** How often to poll for requests and new versions; both are usually noticed at once. */
  pollMs?: number;
  heartbeatMs?: number;
  /** After this a run is answered for as failed. Shorter than what the server waits. */
  ruleTimeoutMs?: number;
  /** Requests beyond this many at once stay where they are. */
  maxRunning?: number;
  /** Asked about errors that a leaf does not handle itself. */
  errorHandle?: HandleError;
  /** Writes a sample of real runs as cases, which `rule-server test` runs. Off when not given. */
  record?: RecordOptions;
  /** Traces runs and nodes and measures runs through the service's `@opentelemetry/api`: names and outcomes, never data. */
  openTelemetry?: boolean;
  /** Called with what went wrong outside of rules. */
  onError?: (error: unknown) => void;
  /** Called with the problems of the released rules, whenever some were loaded. */
  onProblems?: (problems: readonly string[]) => void;
};

export type RuleClient<D = unknown> = {
  readonly address: string;
  /** The version of the rules in use. */
  loadedVersion(): bigint;
  /** The faults of the released rules, one sentence each. */
  problems(): readonly string[];
  /** Runs a rule or a node in this process. Never rejects for what a rule does: that is in the result. */
  run(request: RunRequest<D>): Promise<RunResult<D>>;
  /** Runs the rules of a scene one after the other, by id, each on data of its own. Empty when no rule has it. */
  runScene(request: SceneRequest<D>): Promise<readonly SceneResult<D>[]>;
  /** Reads all rules again, whatever their version. */
  reload(): Promise<void>;
  /** Takes no more requests, lets those under way end and be read, and unregisters. */
  close(): Promise<void>;
};

/**
 * A client of the rule server: registers, beats, runs the requests it is sent and answers each. Nothing a rule does ends it.
 *
 * @param options The app, the shared directory and the leaves; the rest has defaults. Times are milliseconds.
 * @returns A client that is registered: the rule server sends it requests from now on, until `close`.
 * @throws TypeError where an option is unknown, missing or cannot be used; an Error where the shared directory cannot be written, a living client
 *   has the address, or the thread that beats does not start.
 * @example
 * ```ts
 * import { createRuleClient, leavesFor } from 'rule-server-client';
 *
 * const { flow } = leavesFor<{ cost: number }>();
 * const client = await createRuleClient({
 *   app: 1,
 *   sharedDir: process.env.SHARED_DIR ?? './rule-data',
 *   strict: true,
 *   leaves: { 'shop.SpentAtLeast': flow({ min: 100 }, (service, { min }) => service.double('cost', 0) >= min) },
 * });
 * const { outcome } = await client.run({ ruleId: 1, data: { cost: 120 } });
 * console.log(outcome); // TRUE
 * await client.close();
 * ```
 */
export async function createRuleClient<D = unknown, const L extends LeafClasses<D> = LeafClasses<D>>(
  options: RuleClientOptions<D, L>,
): Promise<RuleClient<D>>;
export async function createRuleClient(options: RuleClientOptions): Promise<RuleClient> {
  checkOptions(options, checkDirectory);
  const { app, sharedDir, lane, address = newAddress(), pollMs = 2000, heartbeatMs = 10_000 } = options;
  const { ruleTimeoutMs = 55_000, maxRunning = 100, strict = false, errorHandle } = options;
  const onError = harmless(options.onError ?? warn);
  const onProblems = harmless(options.onProblems ?? warnEach);
  const places = placesOf({ sharedDir, app, address, lane });
  const recorder = options.record ? createRecorder(options.record, { app, address, onError }) : null;
  const telemetry = options.openTelemetry ? await openTelemetry(app) : null;
  const registry = createRegistry(options.leaves);
  const rules = await openRuleSource({ directory: places.rules, registry, strict, onProblems });
  const loadedVersion = rules.current().version;
  const leafNodes = leafNodesOf(registry, onError, keysOfSchema(options.schema));
  // Before anybody can send it something.
  const heart = await startHeart({ places, loadedVersion, heartbeatMs, ruleTimeoutMs, onError });
  await registerAndBeat(heart, places, { app, address, lane, loadedVersion, leafNodes });
  rules.onVersion((version) => heart.loaded(version));
  const running = { ruleTimeoutMs, handleError: errorHandle, onError, recorder, telemetry };
  const takings = createTakings({
    directory: places.mock,
    // Under another address nobody finds a request again.
    ...{ maxRunning, flush: options.address !== undefined, onError },
    answer: (taken) => answerRequest(taken, { places, rules, heart, ...running }),
  });
  const inbox = openInbox({
    directory: places.mock,
    pollMs,
    onError,
    onName: takings.take,
    onPoll: () => rules.refresh(),
  });
  const unwatch = watchStrayErrors();
  let closing: Promise<void> | undefined;
  await inbox.poll();

  return {
    address,
    loadedVersion: () => rules.current().version,
    problems: () => rules.current().problems,
    run: (request) => runInProcess(rules.current(), request, running),
    runScene: (request) => runSceneInProcess(rules.current(), request, running),
    reload: () => rules.reload(),
    close() {
      closing ??= close();
      return closing;
    },
  };

  async function close(): Promise<void> {
    await inbox.close();
    await takings.close();
    await heart.close();
    await recorder?.close();
    await unregister(places);
    unwatch();
  }
}

async function registerAndBeat(heart: Heart, ...[places, what]: Parameters<typeof register>): Promise<void> {
  try {
    heart.registered(await register(places, what));
  } catch (error) {
    await heart.close();
    throw error;
  }
}

function newAddress(): string {
  const host = hostname()
    .replace(/[^\w.-]/g, '_')
    .replace(/^\.+/, '');
  return `${host || 'client'}_${randomBytes(4).toString('hex')}`;
}

/** A listener that throws must not cause further trouble: its error is dropped. */
function harmless<T>(tell: (what: T) => void): (what: T) => void {
  return (what) => {
    try {
      tell(what);
    } catch (error) {
      warn(error);
    }
  };
}

function warn(error: unknown): void {
  console.warn('rule client:', error);
}

function warnEach(problems: readonly string[]): void {
  for (const problem of problems) console.warn(`rule client: ${problem}`);
}
