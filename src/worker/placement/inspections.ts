import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { type NoAnswer, noAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { JobData } from '../../shared/contract/job.ts';
import { scanJson } from '../../shared/contract/json/exact-json.ts';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import type { RulesOfRun } from '../../shared/contract/rules-of-run.ts';
import { type Warning, warning } from '../../shared/contract/warning.ts';
import { time } from '../../shared/ports/time.ts';
import { resultWithin } from '../../shared/runtime/async.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { Client } from '../clients/client.ts';
import type { Claim } from '../files/claims/claims.ts';
import { canRead, dialects, inputWarnings, largeNumberIn, sdks } from '../files/dialects/dialects.ts';
import { HANGS_AFTER_MS } from '../files/shared-directory.ts';
import type { Rules } from '../rules/rules.ts';
import { checkTree, type TreeCheck } from '../rules/tree/tree-checks.ts';

/**
 * A check is good for this long unless the app's version changes: a thousand calls of one rule a second do not read its
 * files a thousand times.
 */
const REMEMBERED_MS = 500;
const MAX_REMEMBERED = 1000;

/** Whether an execution may be sent to a client, what its caller should know about it, and the rules, as they were read. */
type Inspection =
  | { kind: 'refused'; noAnswer: NoAnswer }
  | { kind: 'clear'; warnings: () => Warning[]; rules: RulesNow; takeGraph: () => TreeCheck['graph'] };

/** The rules as a check found them; null where they could not be read. */
type RulesNow = Pick<RulesOfRun, 'released' | 'digest' | 'unsure'>;
type Check = Pick<TreeCheck, 'cycle' | 'warnings' | 'nodes' | 'graph'> & { rules: RulesNow };

/** The part of a client that inspections need. */
type Inspected = Pick<Client, 'address' | 'dialect' | 'sdk' | 'leafNodes'>;

type InspectionsDependencies = {
  rules: Pick<Rules, 'readGraph' | 'readVersion' | 'versionStamp'>;
  leafClassesOf: (published: readonly unknown[]) => ReadonlySet<string> | null;
  listClients: (app: number) => Promise<readonly Client[]>;
  log: Logger;
  checkWithinMs?: number;
};

type Remembered = { at: number; version: string; check: Promise<Check> };
/** The released version, as it was read when its file had this stamp. */
type Release = { stamp: string; version: Promise<bigint | null> };

export type Inspections = ReturnType<typeof createInspections>;

/** Looks at executions just before they are dispatched. Rules that cannot be read are no reason to refuse one. */
export function createInspections(dependencies: InspectionsDependencies) {
  const { rules, listClients, checkWithinMs = HANGS_AFTER_MS } = dependencies;
  const checks = new WeakMap<readonly unknown[], Map<string, Remembered>>();
  const checkNow = createCheck(dependencies);

  async function inspect(client: Inspected, data: JobData): Promise<Inspection> {
    const refusal = inputRefusal(client, data.input);
    if (refusal !== undefined) return { kind: 'refused', noAnswer: refusal };
    const check = (maxAgeMs: number) =>
      resultWithin(checkWithinMs, { of: lookAt(client, data, maxAgeMs), late: () => notChecked(checkWithinMs) });
    const remembered = await check(REMEMBERED_MS);
    // A rule that was mended a moment ago is not refused for what it was.
    const checked = treeRefusal(remembered, data) === undefined ? remembered : await check(0);
    const ofTree = treeRefusal(checked, data);
    if (ofTree !== undefined) return { kind: 'refused', noAnswer: ofTree };
    const takeGraph = () => {
      const { graph } = checked;
      checked.graph = null; // a check is remembered, and its graph may be large
      return graph;
    };
    const warnings = () => [...checked.warnings(), ...inputWarnings(client, data.input)];
    return { kind: 'clear', warnings, rules: checked.rules, takeGraph };
  }

  async function lookAt({ leafNodes }: Inspected, data: JobData, maxAgeMs: number): Promise<Check> {
    const known = checks.get(leafNodes) ?? new Map<string, Remembered>();
    checks.set(leafNodes, known);
    const key = `${data.app}/${data.ruleId}/${data.confId}`;
    const version = await rules.versionStamp(data.app);
    const last = known.get(key);
    if (last?.version === version && time.monotonic() - last.at < maxAgeMs) return last.check;
    const check = checkNow(leafNodes, data);
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(key, { at: time.monotonic(), version, check });
    return check;
  }

  return {
    inspect,

    isReleased: createIsReleased(dependencies),

    /** The warnings of an execution that another attempt began, as far as its client is still known. */
    async warningsAgain({ app, directoryName, ...client }: Claim, data: JobData): Promise<Warning[]> {
      const look = async () => {
        const all = await listClients(app);
        const leafNodes = all.find((listed) => listed.directoryName === directoryName)?.leafNodes ?? [];
        const inspection = await inspect({ ...client, leafNodes }, data);
        return inspection.kind === 'clear' ? inspection.warnings() : [];
      };
      return resultWithin(checkWithinMs, { of: look(), late: () => [] });
    },
  };
}

/** Whether a version of an app is the one that is released now. False where that cannot be read. */
function createIsReleased({ rules }: InspectionsDependencies) {
  // With `max` the cache would take the memory of all of them at once.
  const releases = new LRUCache<number, Release>({ maxSize: MAX_REMEMBERED, sizeCalculation: () => 1 });

  return async function isReleased(app: number, version: string | null): Promise<boolean> {
    const stamp = await rules.versionStamp(app);
    const last = releases.get(app);
    const release = last?.stamp === stamp ? last : { stamp, version: rules.readVersion(app) };
    releases.set(app, release);
    try {
      return ((await release.version)?.toString() ?? null) === version;
    } catch {
      releases.delete(app);
      return false;
    }
  };
}

/** Reads the rules that an execution is about to run on. */
function createCheck({ rules, leafClassesOf, log }: InspectionsDependencies) {
  const incident = createThrottledAlert(log, 'Rules cannot be checked before they are run');
  const markUnsure = createUnsure();

  return async function checkNow(leafNodes: readonly unknown[], { app, ruleId, confId }: JobData): Promise<Check> {
    const id = (text: string | null) => (text === null ? null : BigInt(text));
    const selection = { app, ruleId: id(ruleId), confId: id(confId) };
    try {
      const leafClasses = leafClassesOf(leafNodes);
      const [check, version] = await Promise.all([
        checkTree(selection, { rules, leafClasses }),
        rules.readVersion(app),
      ]);
      incident.ends();
      const found = { released: version?.toString() ?? null, digest: check.digest };
      return { ...check, rules: markUnsure(`${app}/${ruleId}/${confId}`, found) };
    } catch (error) {
      incident.begins(error, 'they are run unchecked');
      return unchecked();
    }
  };
}

/** Marks rules that have been others before under the same version. A worker knows those that it has sent executions to run on. */
function createUnsure() {
  const seen = new Map<string, RulesNow>();

  return function markUnsure(selection: string, found: RulesNow): RulesNow {
    const before = seen.get(selection);
    const isSame = before === undefined || before.released !== found.released;
    const marked: RulesNow =
      isSame || (before.digest === found.digest && !before.unsure) ? found : { ...found, unsure: true };
    if (seen.size >= MAX_REMEMBERED) seen.clear();
    seen.set(selection, marked);
    return marked;
  };
}

const MAX_NODES_NAMED = 20;

/** The reason why nobody may run this tree as it is asked for; undefined if there is none. */
function treeRefusal({ cycle, nodes }: Check, data: JobData): NoAnswer | undefined {
  if (cycle !== null) return ofCycle(data, cycle);
  if (nodes === null || data.dryRun === undefined) return undefined;
  const stubbed = Object.keys(stubsSchema.parse(parseJson(data.dryRun.stub)));
  const unknown = stubbed.find((id) => !nodes.has(BigInt(id)));
  if (unknown === undefined) return undefined;
  const named = [...nodes]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .slice(0, MAX_NODES_NAMED)
    .join(', ');
  const shown = nodes.size > MAX_NODES_NAMED ? `${named}, …` : named;
  return noAnswer('stub-unknown', { field: `stub.${unknown}`, nodes: shown });
}

const CYCLE_NAMED_AT_MOST = 10;

/** `ids`: the nodes along a circle. The rule would never end, and take its client down with it. */
function ofCycle({ app, ruleId, confId }: JobData, ids: readonly bigint[]): NoAnswer {
  const named = ids.slice(0, CYCLE_NAMED_AT_MOST).join(' → ');
  const nodes = `${named} → ${ids.length > CYCLE_NAMED_AT_MOST ? '…' : ids[0]}`;
  return noAnswer('cycle', { app, nodes, ...(ruleId === null ? { confId: `${confId}` } : { ruleId }) });
}

const stubsSchema = z.record(z.string(), z.unknown());

/** The reason why this client cannot take the input; undefined if it can. */
function inputRefusal({ address: client, dialect, sdk }: Inspected, input: string): NoAnswer | undefined {
  const { reservedKey } = dialects[dialect];
  if (reservedKey !== null && hasKey(reservedKey, input))
    return noAnswer('reserved-key', { field: DATA_FIELD, key: reservedKey, client });
  const large = largeNumberIn(input);
  if (!large || canRead(sdk, large)) return undefined;
  const { text: number, path } = large;
  return noAnswer('number-too-large', { field: DATA_FIELD, number, path, client, sdk: sdks[sdk].label });
}

const unknownRules: RulesNow = { released: null, digest: null };
const nothing = { cycle: null, nodes: null, graph: null, rules: unknownRules };
const unchecked = (): Check => ({ ...nothing, warnings: () => [] });

function notChecked(withinMs: number): Check {
  return { ...nothing, warnings: () => [warning('not-checked', { withinMs })] };
}

/** Whether the input has a name at its top level that SDKs of this dialect keep for themselves. */
function hasKey(reservedKey: string, input: string): boolean {
  if (!input.includes(reservedKey) && !input.includes('\\u')) return false;
  const scanned = scanJson(input);
  return scanned.kind === 'complete' && scanned.members.some(({ key }) => key === reservedKey);
}
