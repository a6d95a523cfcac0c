import { z } from 'zod';
import { DEFAULT_CONCURRENCY, MAX_CONCURRENCY, MAX_ITEMS } from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import { readCase } from '../../shared/cases/document/read-case.ts';
import { readFlag, readMembers, readText, readTexts } from '../../shared/cases/document/read-members.ts';
import {
  createRefusals,
  noLines,
  noneSetAside,
  problemOf,
  type Refusals,
  type SetAside,
} from '../../shared/cases/document/refusal.ts';
import { readIgnored } from '../../shared/cases/judging/noise.ts';
import { elementsOf } from '../../shared/cases/split-array.ts';
import { verdictSchema } from '../../shared/contract/batches.ts';
import { callSchema, memberValue } from '../../shared/contract/execute-request.ts';
import { scanJson } from '../../shared/contract/json/exact-json.ts';
import type { Member } from '../../shared/contract/json/json-tokens.ts';
import { integerOf } from '../../shared/contract/json/raw-number.ts';
import { decodeWhole } from '../../shared/contract/json/utf8.ts';
import { formatTarget, parseTarget } from '../../shared/contract/target.ts';
import type { Verdict } from '../../shared/contract/verdict.ts';
import type { Problem } from '../calls/read-request.ts';
import type { BatchBodyParameters } from './parameters.ts';

/** The source of the cases of a batch. `leftOut`: how many had mistakes. */
type Source =
  | { kind: 'given'; cases: Case[]; leftOut?: number }
  | { kind: 'saved'; ts: string | null }
  | { kind: 'from'; batchId: string; verdicts: Verdict[] }
  | { kind: 'recorded'; mockIds: string[]; ts: string | null };

/** The request of a batch. `targets` may hold `client:*`; null if they are those of another batch. Ids are decimal text. */
export type BatchRequest = {
  app: number;
  ruleId: string | null;
  confId: string | null;
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
};
export type ReadBatch =
  | { kind: 'request'; request: BatchRequest; setAside: SetAside }
  | { kind: 'bad'; problems: Problem[] };

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
  if (decoded.kind !== 'text') return bad('body', decoded.message);
  const scanned = scanJson(decoded.text);
  if (scanned.kind !== 'complete') return bad(scanned.path || 'body', scanned.message);
  if (scanned.type !== 'object') return bad('body', 'must be a JSON object');
  const refusals = createRefusals(noLines);
  const members = readMembers(scanned.raw, { path: [], known: KNOWN, refusals });
  const ids = readIds(members);
  const targets = members.has('targets')
    ? readTargets(readTexts(members.get('targets'), ['targets'], refusals), refusals)
    : null;
  const concurrency = readCount(members.get('concurrency'), { path: 'concurrency', most: MAX_CONCURRENCY, refusals });
  const stopAfterFailures = readCount(members.get('stopAfterFailures'), {
    path: 'stopAfterFailures',
    most: MAX_ITEMS,
    refusals,
  });
  const file = readText(members.get('file'), ['file'], refusals) ?? null;
  const dryRun = isGiven(members.get('dryRun')) ? readFlag(members.get('dryRun'), ['dryRun'], refusals) : null;
  const against = readAgainst(readText(members.get('against'), ['against'], refusals), refusals);
  const ignore = members.has('ignore') ? readIgnored(members.get('ignore'), refusals) : null;
  const read = readSource(members, { refusals, skipInvalid: invalid });
  const problems = [
    ...scanned.duplicates.map((path) => ({ field: path, message: 'is given twice' })),
    ...(ids.kind === 'bad' ? ids.problems : []),
    ...refusals.all.map(problemOf),
  ];
  if (ids.kind === 'bad' || read === null || problems.length > 0)
    return { kind: 'bad', problems: problems.slice(0, 100) };
  const { app, ruleId, confId, ts } = ids;
  const options = { concurrency: concurrency ?? DEFAULT_CONCURRENCY, stopAfterFailures, file, against, dryRun, ignore };
  return {
    kind: 'request',
    request: { app, ruleId, confId, targets, ...options, source: timed(read.source, ts) },
    setAside: read.setAside,
  };
}

/** Cases without a time of their own run as of the request's. */
function timed(source: Source, ts: string | null): Source {
  if (source.kind === 'saved' || source.kind === 'recorded') return { ...source, ts };
  if (source.kind === 'from' || ts === null) return source;
  return { ...source, cases: source.cases.map((one) => ({ ...one, ts: one.ts ?? ts })) };
}

type Ids =
  | { kind: 'ids'; app: number; ruleId: string | null; confId: string | null; ts: string | null }
  | { kind: 'bad'; problems: Problem[] };

/** The same fields as those of execute, checked the same way. */
function readIds(members: Map<string, Member>): Ids {
  const names = ['app', 'ruleId', 'confId', 'ts'];
  const values = names.flatMap((name) => {
    const member = members.get(name);
    return member ? [[name, memberValue(member)] as const] : [];
  });
  const parsed = callSchema.safeParse(Object.fromEntries(values));
  if (!parsed.success)
    return {
      kind: 'bad',
      problems: parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message })),
    };
  const { app, ruleId, confId, ts } = parsed.data;
  const text = (value: bigint | null) => value?.toString() ?? null;
  return { kind: 'ids', app, ruleId: text(ruleId), confId: text(confId), ts: text(ts) };
}

/** Targets as they are written everywhere, each once. None: `all`. */
export function readTargets(given: readonly string[], refusals: Refusals): string[] {
  if (given.length > MAX_TARGETS) refusals.add(['targets'], `must be at most ${MAX_TARGETS}`);
  const targets = given.map((text, index) => {
    if (text === EVERY_CLIENT) return text;
    const parsed = parseTarget(text);
    if (parsed.kind !== 'malformed') return formatTarget(parsed);
    refusals.add(['targets', index], parsed.message);
    return text;
  });
  return targets.length === 0 ? ['all'] : [...new Set(targets)];
}

type Reading = { refusals: Refusals; skipInvalid: boolean };
type ReadSource = { source: Source; setAside: SetAside } | null;

function readSource(members: Map<string, Member>, { refusals, skipInvalid }: Reading): ReadSource {
  const isSaved = readFlag(members.get('saved'), ['saved'], refusals);
  const given = [members.has('cases'), isSaved, members.has('recorded'), members.has('from')].filter((is) => is);
  if (given.length !== 1) {
    refusals.add(['cases'], 'give either cases, saved: true, recorded or from');
    return null;
  }
  if (isSaved) return { source: readSaved(members, refusals), setAside: noneSetAside };
  if (members.has('from')) return { source: readFrom(members, refusals), setAside: noneSetAside };
  if (members.has('recorded')) return { source: readRecorded(members, refusals), setAside: noneSetAside };
  return readGiven(members.get('cases'), { refusals, skipInvalid });
}

function readGiven(member: Member | undefined, { refusals, skipInvalid }: Reading): ReadSource {
  if (member?.kind !== 'array') {
    refusals.add(['cases'], 'must be a list');
    return null;
  }
  const elements = elementsOf(member.raw);
  if (elements.length === 0) refusals.add(['cases'], 'is empty: there is nothing to run');
  if (elements.length > MAX_ITEMS) {
    refusals.add(['cases'], `must be at most ${MAX_ITEMS}, found ${elements.length}`);
    return null;
  }
  const ofCases = createRefusals(noLines);
  const options = { writing: 'request', refusals: ofCases, lineOf: noLines, defaults: [] } as const;
  const cases: Case[] = [];
  for (const [index, raw] of elements.entries()) {
    const before = ofCases.found();
    const one = readCase(raw, { ...options, path: ['cases', index] });
    if (ofCases.found() === before) cases.push(one);
  }
  const setAside = { cases: elements.length - cases.length, refusals: ofCases.all };
  if (skipInvalid && cases.length > 0) return { source: { kind: 'given', cases, leftOut: setAside.cases }, setAside };
  for (const refusal of ofCases.all) refusals.put(refusal);
  return { source: { kind: 'given', cases }, setAside: noneSetAside };
}

/** Cases are saved for a rule or a node; a node inside of a rule has none. */
function readSaved(members: Map<string, Member>, refusals: Refusals): Source {
  if (isGiven(members.get('ruleId')) && isGiven(members.get('confId')))
    refusals.add(['confId'], 'must not be given beside ruleId with saved: cases belong to a rule or to a node');
  return { kind: 'saved', ts: null };
}

/** A target of the batch with which the others are compared. */
export function readAgainst(text: string | undefined, refusals: Refusals): string | undefined {
  const parsed = text === undefined ? undefined : parseTarget(text);
  if (parsed?.kind === 'malformed') refusals.add(['against'], parsed.message);
  return parsed === undefined || parsed.kind === 'malformed' ? undefined : formatTarget(parsed);
}

/** Runs of a whole rule can be made again; a node has none of its own. */
function readRecorded(members: Map<string, Member>, refusals: Refusals): Source {
  const mockIds = [...new Set(readTexts(members.get('recorded'), ['recorded'], refusals))];
  if (mockIds.length === 0) refusals.add(['recorded'], 'is empty: give the ids of runs');
  if (mockIds.length > MAX_ITEMS) refusals.add(['recorded'], `must be at most ${MAX_ITEMS}, found ${mockIds.length}`);
  if (!isGiven(members.get('ruleId')) || isGiven(members.get('confId')))
    refusals.add(['recorded'], 'needs ruleId, and no confId: only runs of a whole rule are made again');
  if (isGiven(members.get('against')))
    refusals.add(['against'], 'must not be given beside recorded: the runs are compared with those they repeat');
  return { kind: 'recorded', mockIds, ts: null };
}

const isGiven = (member: Member | undefined) => member !== undefined && member.kind !== 'null';

function readFrom(members: Map<string, Member>, refusals: Refusals): Source {
  const batchId = readText(members.get('from'), ['from'], refusals) ?? '';
  const given = readTexts(members.get('verdict'), ['verdict'], refusals);
  const verdicts = z.array(verdictSchema).safeParse(given);
  if (!verdicts.success) refusals.add(['verdict'], `must be a list of ${verdictSchema.options.join(', ')}`);
  return {
    kind: 'from',
    batchId,
    verdicts: verdicts.success && given.length > 0 ? verdicts.data : [...verdictSchema.options],
  };
}

function readCount(
  member: Member | undefined,
  { path, most, refusals }: { path: string; most: number; refusals: Refusals },
): number | null {
  if (member === undefined || member.kind === 'null') return null;
  const value = member.kind === 'number' ? integerOf(member.raw) : undefined;
  if (value !== undefined && value >= 1n && value <= BigInt(most)) return Number(value);
  refusals.add([path], `must be a whole number from 1 to ${most}`);
  return null;
}

function bad(field: string, message: string): ReadBatch {
  return { kind: 'bad', problems: [{ field, message }] };
}
