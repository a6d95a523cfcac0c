import { didYouMean } from '../shared/contract/nearest.ts';

type Check = (value: unknown, name: string) => string | undefined;

const MAX_MS = 2 ** 31 - 1;

const milliseconds =
  (least: number): Check =>
  (value, name) =>
    isInteger(value, least, MAX_MS) ? undefined : `${name} must be ${least} to ${MAX_MS} ms, not ${shown(value)}`;
const ofType =
  (type: string, wanted: string): Check =>
  (value, name) =>
    typeof value === type ? undefined : `${name} must be ${wanted}, not ${shown(value)}`;
const aFunction = ofType('function', 'a function');

/** Every option, and what is wrong with a value of it. */
const checks: Readonly<Record<string, Check>> = {
  app: (value) =>
    isInteger(value, 1, Number.MAX_SAFE_INTEGER) ? undefined : `app must be a positive integer, not ${shown(value)}`,
  leaves: (value) =>
    typeof value === 'object' && value !== null ? undefined : `leaves must be an object, not ${shown(value)}`,
  schema: (value) =>
    isSchema(value) ? undefined : `schema must be a Standard Schema, such as one of Zod, not ${shown(value)}`,
  strict: ofType('boolean', 'true or false'),
  lane: ofType('string', 'a name'),
  address: ofType('string', 'a name'),
  pollMs: milliseconds(10),
  heartbeatMs: milliseconds(10),
  ruleTimeoutMs: milliseconds(1),
  maxRunning: (value) =>
    isInteger(value, 1, 1_000_000) ? undefined : `maxRunning must be 1 to 1000000, not ${shown(value)}`,
  record: (value) => checkRecord(value),
  openTelemetry: ofType('boolean', 'true or false'),
  errorHandle: aFunction,
  onError: aFunction,
  onProblems: aFunction,
};
const required = ['app', 'sharedDir', 'leaves'];

/**
 * Throws a `TypeError` that names every option of a client that is unknown, missing or cannot be used. `checkDirectory`: what is wrong with
 * a shared directory.
 */
export function checkOptions(options: object, checkDirectory: (value: unknown) => string | undefined): void {
  const all = { ...checks, sharedDir: checkDirectory };
  check(options, Object.keys(all), required, { all });
}

const loading = ['leaves', 'schema', 'strict', 'ruleTimeoutMs', 'errorHandle', 'onError'];

/** The same for rules that are loaded without a client. */
export function checkLoadOptions(options: object): void {
  check(options, loading, ['leaves']);
}

/** The same for a test of a rule, whose options say what to run as well. */
export function checkTestOptions(options: object): void {
  const running = ['ruleId', 'confId', 'ts', 'data', 'withSteps', 'mocks'];
  const others = Object.entries(options).filter(([name]) => !running.includes(name));
  check(Object.fromEntries(others), loading, ['leaves'], { others: running });
}

/** Throws where Node is too old for this package, and names both versions. Elsewhere than on Node nothing is asked. */
export function checkNode(found: string | undefined = globalThis.process?.versions?.node): void {
  const [major = 0, minor = 0] = found?.split('.').map(Number) ?? [Number.POSITIVE_INFINITY];
  if (major < 22 || (major === 22 && minor < 22))
    throw new Error(`rule-server-client needs Node 22.22 or newer and found ${found}`);
}

function check(
  options: object,
  known: readonly string[],
  needed: readonly string[],
  { others = [], all = checks }: { others?: readonly string[]; all?: typeof checks } = {},
): void {
  checkNode();
  const given = new Map<string, unknown>(Object.entries(options).filter(([, value]) => value !== undefined));
  const missing = needed.filter((name) => !given.has(name)).map((name) => `${name} is missing`);
  const wrong = [...given].map(([name, value]) => {
    const checkOne = known.includes(name) ? all[name] : undefined;
    return checkOne ? checkOne(value, name) : `there is no option ${name}${didYouMean(name, [...known, ...others])}`;
  });
  const sentences = [...missing, ...wrong.filter((sentence) => sentence !== undefined)];
  if (sentences.length > 0) throw new TypeError(sentences.join('. '));
}

const recordOptions = ['sample', 'mask', 'to', 'maxCases'];

function checkRecord(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return `record must be an object, not ${shown(value)}`;
  const unknown = Object.keys(value).find((name) => !recordOptions.includes(name));
  if (unknown !== undefined) return `there is no option record.${unknown}${didYouMean(unknown, recordOptions)}`;
  const { sample, mask, to, maxCases }: Record<string, unknown> = { ...value };
  if (typeof sample !== 'number' || !(sample >= 0 && sample <= 1))
    return `record.sample must be from 0 to 1, not ${shown(sample)}`;
  if (typeof to !== 'string' || to.trim() === '') return `record.to must be a directory, not ${shown(to)}`;
  if (mask !== undefined && !(Array.isArray(mask) && mask.every((name) => typeof name === 'string')))
    return 'record.mask must be a list of names';
  return maxCases === undefined || isInteger(maxCases, 1, 10_000)
    ? undefined
    : `record.maxCases must be 1 to 10000, not ${shown(maxCases)}`;
}

/** Those of ArkType are functions. */
function isSchema(value: unknown): boolean {
  return ((typeof value === 'object' && value !== null) || typeof value === 'function') && '~standard' in value;
}

function isInteger(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
