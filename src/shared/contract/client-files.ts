import { z } from 'zod';
import { type Fault, fault } from '../reasons/causes.ts';
import { DATA_FIELD } from './data-field.ts';
import { outcomeSchema } from './job.ts';
import { joinMembers, NotJson, scanJson } from './json/exact-json.ts';
import type { Member } from './json/json-tokens.ts';
import { integerOf } from './json/raw-number.ts';
import { decodeUtf8 } from './json/utf8.ts';

/** The two files that pass between a worker and a client that speaks the interface. The published SDKs have names of their own for some members. */

const int64 = (what: string) => z.number().meta({ type: 'integer', format: 'int64', description: what });
const ids = {
  ruleId: int64('The rule. Absent: only the node runs.').optional(),
  confId: int64('A node: the sub-tree below it runs; with `ruleId` as a part of that rule.').optional(),
};

/** A request: `{mockId}.json`. In ASCII; an absent member is left out, never null. */
export const requestSchema = z
  .object({
    mockId: z.uuid().describe('The execution; the name of the file without `.json`.'),
    app: z.int().min(1).describe('The app.'),
    ...ids,
    dryRun: z
      .object({ ...ids, stub: z.record(z.string(), z.unknown()).describe('What stands in the place of nodes.') })
      .describe(
        'A run without effects. Only for clients that register with `dryRun: true`: the rule is in here, not at the top.',
      )
      .optional(),
    ofScene: z.string().describe('The scene that named the rule; for information.').optional(),
    ts: int64('Run as of this time, epoch ms. Absent: now.').optional(),
    debug: z
      .int()
      .min(1)
      .max(255)
      .describe('What to write to your own log: 1 input, 2 trace, 4 output, or their sum.')
      .optional(),
    [DATA_FIELD]: z.record(z.string(), z.unknown()).describe('The input, as the caller wrote it.'),
    target: z.string().describe('What the caller asked for, such as `all`; for information.'),
    createAt: int64('When the worker wrote it, epoch ms.'),
    traceparent: z.string().describe('The trace to go on with (W3C Trace Context).').optional(),
  })
  .describe('A request: mock/{app}/{address}/{mockId}.json.');

/** A result: `{mockId}_result.json`. A member that is null counts as absent; any further member is passed on as written. */
export const answerSchema = z
  .object({
    mockId: z.string().describe('That of the request. Absent: it is filled in.').nullish(),
    success: z.boolean().describe('Whether the rule ran without an error.'),
    [DATA_FIELD]: z
      .record(z.string(), z.unknown())
      .describe('The data after the run: the input with what the rule set or changed. Absent: `{}`.')
      .nullish(),
    process: z
      .union([z.string(), z.array(z.unknown())])
      .describe('The trace: text such as `[11:ScoreFlow:T:0]`, or a list of steps.')
      .nullish(),
    error: z.string().describe('Why `success` is false.').nullish(),
    executeAt: int64('When it ran, epoch ms. Absent: the time at which the worker read the result.').nullish(),
    outcome: outcomeSchema.describe('What the rule came to. Absent: the end of the trace says it.').nullish(),
    dryRun: z
      .boolean()
      .describe('`true` in the answer to a dry run: it had no effects. Without it the call fails.')
      .nullish(),
  })
  .describe('A result: mock/{app}/{address}/{mockId}_result.json.');

/** The content of a request file, with every number as text. */
export type RequestContent = {
  mockId: string;
  app: number;
  ruleId: string | null;
  confId: string | null;
  ts: string | null;
  target: string;
  debug?: number | undefined;
  /** The scene that named the rule. */
  scene?: string | undefined;
  /** The trace that the run belongs to (W3C Trace Context); a client may go on with it. */
  traceparent?: string | undefined;
  input: string;
  /** Set for a run without effects. The rule is then in a member that a client of an earlier version does not read: it finds nothing to run. */
  dryRun?: { stub: string } | undefined;
};

type RequestMember = [key: keyof typeof requestSchema.shape, raw: string];

/** The members of a request, in order; values are JSON text. */
export function requestMembers(
  { mockId, app, ruleId, confId, ts, debug, scene, traceparent, target, input, dryRun }: RequestContent,
  createAt: number,
): RequestMember[] {
  const asked: RequestMember[] = [];
  if (ruleId !== null) asked.push(['ruleId', ruleId]);
  if (confId !== null) asked.push(['confId', confId]);
  const members: RequestMember[] = [
    ['mockId', JSON.stringify(mockId)],
    ['app', String(app)],
    ...(dryRun === undefined ? asked : [dryRunMember(joinMembers([...asked, ['stub', dryRun.stub]]))]),
  ];
  // Not as `scene`: a client of another dialect that finds this request would run the first rule of it.
  if (scene !== undefined) members.push(['ofScene', JSON.stringify(scene)]);
  if (ts !== null) members.push(['ts', ts]);
  if (debug !== undefined) members.push(['debug', String(debug)]);
  members.push([DATA_FIELD, input], ['target', JSON.stringify(target)], ['createAt', String(createAt)]);
  if (traceparent !== undefined) members.push(['traceparent', JSON.stringify(traceparent)]);
  return members;
}

const dryRunMember = (raw: string): RequestMember => ['dryRun', raw];

const badFlag = (member: Member | undefined) =>
  fault('result-bad-flag', { member: member?.key ?? '', value: shortened(member?.raw ?? '') });

/** What a wrong member makes of a result. Of the others nothing is asked: they are passed on as they are. */
const FAULTS = new Map<PropertyKey | undefined, (member: Member | undefined) => Fault>([
  ['success', (member) => (member ? badFlag(member) : fault('result-no-success', {}))],
  [DATA_FIELD, (member) => fault('result-bad-data', { member: member?.key ?? DATA_FIELD, type: member?.kind ?? '' })],
  ['outcome', (member) => fault('result-bad-outcome', { value: shortened(member?.raw ?? '') })],
  ['dryRun', badFlag],
  ['executeAt', (member) => fault('result-bad-time', { value: shortened(member?.raw ?? '') })],
]);

/**
 * The members of a result as written; or why there are none. `incomplete`: it may become one. `clientDied`: clients
 * whose process ends while it runs a rule leave this.
 */
type ReadAnswer =
  | { kind: 'read'; text: string; members: Member[] }
  | { kind: 'incomplete'; fault: Fault }
  | { kind: 'wrong'; fault: Fault; clientDied?: true };

/** `dataField`: the member that has the data. */
type Expected = { mockId: string; dataField?: string };

/** Reads the bytes of a result file. */
export function readAnswer(bytes: Uint8Array, expected: Expected): ReadAnswer {
  if (bytes.length === 0) return { kind: 'incomplete', fault: fault('result-empty', {}) };
  const decoded = decodeUtf8(bytes);
  if (decoded.kind === 'wrong') return wrong(decoded.fault);
  const scanned = scanJson(decoded.text);
  if (scanned.kind === 'incomplete') return { kind: 'incomplete', fault: fault('result-cut', { bytes: bytes.length }) };
  if (scanned.kind !== 'complete') return wrong(new NotJson(scanned).fault);
  if (decoded.kind === 'cut') return wrong(fault('result-cut-character', {}));
  if (scanned.type === 'null') return { ...wrong(fault('result-null', {})), clientDied: true };
  if (scanned.type !== 'object') return wrong(fault('result-no-object', { type: scanned.type }));
  if (scanned.duplicates.length > 0) return wrong(fault('result-twice', { names: scanned.duplicates.join(', ') }));
  const found = faultOf(membersGiven(scanned.members), expected);
  return found === null ? { kind: 'read', text: decoded.text, members: scanned.members } : wrong(found);
}

/** The members that are not null, by their names. */
export const membersGiven = (members: readonly Member[]): Map<string, Member> =>
  new Map(members.filter(({ kind }) => kind !== 'null').map((member) => [member.key, member]));

function wrong(found: Fault): { kind: 'wrong'; fault: Fault } {
  return { kind: 'wrong', fault: found };
}

function faultOf(given: ReadonlyMap<string, Member>, { mockId, dataField = DATA_FIELD }: Expected): Fault | null {
  const id = given.get('mockId');
  if (id && (id.kind !== 'string' || JSON.parse(id.raw) !== mockId))
    return fault('result-of-another', { found: shortened(id.raw) });
  const memberOf = (name: string) => given.get(name === DATA_FIELD ? dataField : name);
  const shallow = Object.keys(answerSchema.shape).map((name) => [name, shallowValue(memberOf(name))]);
  for (const { path } of answerSchema.safeParse(Object.fromEntries(shallow)).error?.issues ?? []) {
    const found = FAULTS.get(path[0])?.(memberOf(String(path[0])));
    if (found !== undefined) return found;
  }
  return null;
}

/** A value of the same kind, because of a large result nothing more is looked at; NaN for a number that is no integer of 64 bits. */
function shallowValue(member: Member | undefined): unknown {
  if (member?.kind === 'number') return isInt64(integerOf(member.raw)) ? 0 : Number.NaN;
  if (member?.key === 'outcome' && member.kind === 'string') return JSON.parse(member.raw);
  const values = { object: {}, array: [], string: '', boolean: true, null: null };
  return member === undefined ? undefined : values[member.kind];
}

const isInt64 = (integer: bigint | undefined) => integer !== undefined && BigInt.asIntN(64, integer) === integer;

function shortened(raw: string): string {
  return raw.length > 80 ? `${raw.slice(0, 77)}…` : raw;
}
