import { z } from 'zod';
import { DEFAULT_CONCURRENCY, MAX_CONCURRENCY, MAX_ITEMS } from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import { readCase } from '../../shared/cases/document/read-case.ts';
import {
  type Given,
  type Members,
  readFlag,
  readMembers,
  readText,
  readTexts,
} from '../../shared/cases/document/read-members.ts';
import {
  createRefusals,
  noneSetAside,
  type Place,
  type Refusals,
  type SetAside,
} from '../../shared/cases/document/refusal.ts';
import { readIgnored } from '../../shared/cases/judging/noise.ts';
import { elementsOf } from '../../shared/cases/split-array.ts';
import { verdictSchema } from '../../shared/contract/batches.ts';
import { callSchema, memberValue } from '../../shared/contract/execute-request.ts';
import { problemsOf } from '../../shared/contract/issues.ts';
import { scanJson } from '../../shared/contract/json/exact-json.ts';
import { integerOf } from '../../shared/contract/json/raw-number.ts';
import { decodeWhole } from '../../shared/contract/json/utf8.ts';
import { formatTarget, parseTarget } from '../../shared/contract/target.ts';
import type { Verdict } from '../../shared/contract/verdict.ts';
import { type Problem, problemAt, problemOfFault } from '../../shared/reasons/problems.ts';
import type { BatchBodyParameters } from './parameters.ts';

/** The source of the cases of a batch. */
type Source =
  | { kind: 'given'; cases: Case[] }
  | { kind: 'saved' }
  | { kind: 'from'; batchId: string; verdicts: Verdict[] }
  | { kind: 'recorded'; mockIds: string[] };

/** The request of a batch. `targets` may hold `client:*`; null if they are those of another batch. Ids are decimal text. */
export type BatchRequest = {
  app: number;
  ruleId: string | null;
  confId: string | null;
  /** The time that cases without one of their own run as of. */
  ts: string | null;
  targets: string[] | null;
  concurrency: number;
  stopAfterFailures: number | null;
  file: string | null;
  /** The target whose runs the others are compared with. */
  against?: string | undefined;
  /** Null where the request does not say. */
  dryRun: boolean | null;
  /** Paths in the data that comparisons ignore; null if they are those of the saved cases or of another batch. */
  ignore: string[] | null;
  source: Source;
  /** The given cases that have mistakes. */
  setAside: SetAside;
};
export type ReadBatch = { kind: 'request'; request: BatchRequest } | { kind: 'bad'; problems: Problem[] };

export const EVERY_CLIENT = 'client:*';
const KNOWN = [
  ...['app', 'ruleId', 'confId', 'ts', 'targets', 'against', 'cases', 'saved', 'recorded', 'from', 'verdict'],
  ...['concurrency', 'stopAfterFailures', 'file', 'dryRun', 'ignore'],
];
const MAX_TARGETS = 100;

/**
 * Reads the JSON body of a new batch, whole, before anything runs. Every bad field is named, up to a hundred. With `invalid`, cases with
 * mistakes are set aside unless all have some.
 */
export function readBatchRequest(bytes: Uint8Array, { invalid }: Pick<BatchBodyParameters, 'invalid'>): ReadBatch {
  const decoded = decodeWhole(bytes);
  if (decoded.kind !== 'text') return bad(problemOfFault('body', decoded.fault));
  const scanned = scanJson(decoded.text);
  if (scanned.kind !== 'complete') return bad(problemOfFault(scanned.path || 'body', scanned.whole));
  if (scanned.type !== 'object')
    return bad(problemAt('body', 'invalid-type', { expected: 'json-object', received: scanned.type }));
  const refusals = createRefusals();
  const members = readMembers(scanned.raw, KNOWN, refusals.at());
  const ids = readIds(members);
  const [targets, dryRun, ignore] = [members.get('targets'), members.get('dryRun'), members.get('ignore')];
  const options = {
    targets: targets ? readTargets(readTexts(targets), targets.at) : null,
    concurrency: readCount(members.get('concurrency'), MAX_CONCURRENCY) ?? DEFAULT_CONCURRENCY,
    stopAfterFailures: readCount(members.get('stopAfterFailures'), MAX_ITEMS),
    file: readText(members.get('file')) ?? null,
    dryRun: dryRun ? readFlag(dryRun) : null,
    against: readAgainst(readText(members.get('against')), refusals.at('against')),
    ignore: ignore ? readIgnored(ignore) : null,
  };
  const cases = readSource(members, refusals, invalid);
  const problems = [
    ...scanned.duplicates.map((path) => problemAt(path, 'duplicate', {})),
    ...problemsOf(ids.error?.issues ?? []),
    ...refusals.all,
  ];
  if (!ids.success || cases === null || problems.length > 0) return { kind: 'bad', problems: problems.slice(0, 100) };
  const text = (value: bigint | null) => value?.toString() ?? null;
  const { app, ruleId, confId, ts } = ids.data;
  const given = { app, ruleId: text(ruleId), confId: text(confId), ts: text(ts) };
  return { kind: 'request', request: { ...given, ...options, ...cases } };
}

/** The same fields as those of execute, checked the same way. */
function readIds(members: Members) {
  const values = ['app', 'ruleId', 'confId', 'ts'].flatMap((name) => {
    const given = members.written(name);
    return given ? [[name, memberValue(given)] as const] : [];
  });
  return callSchema.safeParse(Object.fromEntries(values), { reportInput: true });
}

/** Targets as they are written everywhere, each once. None: `all`. */
export function readTargets(given: readonly string[], at: Place): string[] {
  if (given.length > MAX_TARGETS) at.refuse('too-many', { maximum: MAX_TARGETS });
  const targets = given.map((text, index) => (text === EVERY_CLIENT ? text : (readTarget(text, at.in(index)) ?? text)));
  return targets.length === 0 ? ['all'] : [...new Set(targets)];
}

/** A target of the batch with which the others are compared. */
export const readAgainst = (text: string | undefined, at: Place) => (text === undefined ? text : readTarget(text, at));

function readTarget(text: string, at: Place): string | undefined {
  const parsed = parseTarget(text);
  return parsed.kind === 'malformed' ? at.refuseFault(parsed.fault) : formatTarget(parsed);
}

type Cases = Pick<BatchRequest, 'source' | 'setAside'>;

function readSource(members: Members, refusals: Refusals, skipInvalid: boolean): Cases | null {
  const isSaved = readFlag(members.get('saved'));
  const [cases, recorded, from] = [members.get('cases'), members.get('recorded'), members.get('from')];
  if ([cases, recorded, from, isSaved].filter(Boolean).length !== 1)
    return refusals.at('cases').refuse('one-source', {}) ?? null;
  if (cases) return readGiven(cases, refusals, skipInvalid);
  const source = recorded ? readRecorded(recorded, members) : from ? readFrom(from, members) : readSaved(members);
  return { source, setAside: noneSetAside };
}

function readGiven({ kind, raw, at }: Given, refusals: Refusals, skipInvalid: boolean): Cases | null {
  if (kind !== 'array') return at.refuse('invalid-type', { expected: 'array' }) ?? null;
  const elements = elementsOf(raw);
  if (elements.length === 0) at.refuse('empty', {});
  if (elements.length > MAX_ITEMS) return at.refuse('too-many', { maximum: MAX_ITEMS, found: elements.length }) ?? null;
  const ofCases = createRefusals();
  const cases = elements.flatMap((one, index) =>
    ofCases.accepted(() => readCase(one, { index, at: ofCases.at('cases', index) })),
  );
  const setAside = { cases: elements.length - cases.length, errors: ofCases.all };
  if (skipInvalid && cases.length > 0) return { source: { kind: 'given', cases }, setAside };
  for (const refusal of ofCases.all) refusals.put(refusal);
  return { source: { kind: 'given', cases }, setAside: noneSetAside };
}

/** Cases are saved for a rule or a node; a node inside of a rule has none. */
function readSaved(members: Members): Source {
  if (members.get('ruleId')) members.get('confId')?.at.refuse('rule-and-node', {});
  return { kind: 'saved' };
}

/** Runs of a whole rule can be made again; a node has none of its own. */
function readRecorded(given: Given, members: Members): Source {
  const mockIds = [...new Set(readTexts(given))];
  if (mockIds.length === 0) given.at.refuse('empty', {});
  if (mockIds.length > MAX_ITEMS) given.at.refuse('too-many', { maximum: MAX_ITEMS, found: mockIds.length });
  if (!members.get('ruleId') || members.get('confId')) given.at.refuse('recorded-of-rule', {});
  members.get('against')?.at.refuse('recorded-against', {});
  return { kind: 'recorded', mockIds };
}

function readFrom(given: Given, members: Members): Source {
  const wanted = members.get('verdict');
  const verdicts = z.array(verdictSchema).safeParse(readTexts(wanted));
  if (!verdicts.success) wanted?.at.refuse('invalid-value', { values: verdictSchema.options.join(', ') });
  const isSome = verdicts.success && verdicts.data.length > 0;
  return {
    kind: 'from',
    batchId: readText(given) ?? '',
    verdicts: isSome ? verdicts.data : [...verdictSchema.options],
  };
}

function readCount(given: Given | undefined, most: number): number | null {
  const value = given?.kind === 'number' ? integerOf(given.raw) : undefined;
  if (value !== undefined && value >= 1n && value <= BigInt(most)) return Number(value);
  return given?.at.refuse('invalid-type', { expected: 'whole-number', minimum: 1, maximum: most }) ?? null;
}

const bad = (problem: Problem): ReadBatch => ({ kind: 'bad', problems: [problem] });
