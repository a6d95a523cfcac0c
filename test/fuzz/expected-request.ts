import { kindOf, readReference } from './reference.ts';

/** What a body asks for, by a second opinion. */
export type ExpectedRequest =
  | { kind: 'refused'; why: string }
  | { kind: 'taken'; app: number; ids: string; input: string; target: string };

/** Those that the bodies of these tests have on purpose. */
const FIELDS = new Set(['app', 'ruleId', 'confId', 'ts', 'the service', 'target']);
const INT32_MAX = 2n ** 31n - 1n;
const INT64_MAX = 2n ** 63n - 1n;
/** Too large for any field, whatever its digits are. */
const HUGE = 10n ** 60n;

export function expectedRequest(bytes: Buffer): ExpectedRequest {
  const reading = readReference(bytes);
  if (reading.kind === 'bad') return refused(reading.why);
  if (kindOf(reading.raw) !== 'object') return refused('not an object');
  const raw = new Map(reading.members.map((member) => [member.key, member.raw]));
  if ([...raw.keys()].some((key) => !FIELDS.has(key))) return refused('a name that is not known');

  const app = integerAt(raw, 'app', INT32_MAX);
  const [ruleId, confId, ts] = ['ruleId', 'confId', 'ts'].map((key) => integerAt(raw, key, INT64_MAX));
  const input = raw.get('the service') ?? 'null';
  const target = raw.get('target') ?? 'null';
  if (app === undefined || app === 0n || ruleId === undefined || confId === undefined || ts === undefined)
    return refused('an integer');
  if (ruleId === 0n && confId === 0n) return refused('nothing to run');
  if (!['object', 'null'].includes(kindOf(input))) return refused('the service');
  if (!['string', 'null'].includes(kindOf(target))) return refused('target');
  const wanted: string = JSON.parse(target) ?? '';
  if (!isTarget(wanted)) return refused('target');
  const ids = [
    ['ruleId', ruleId],
    ['confId', confId],
    ['ts', ts],
  ] as const;
  return {
    kind: 'taken',
    app: Number(app),
    ids: ids.flatMap(([key, id]) => (id === 0n ? [] : [`"${key}":${id},`])).join(''),
    input: input === 'null' ? '{}' : input,
    target: wanted === '' ? 'all' : wanted,
  };
}

function refused(why: string): ExpectedRequest {
  return { kind: 'refused', why };
}

/** The integer that a member stands for, 0 when it is absent, undefined when it is not one that is taken. */
function integerAt(members: Map<string, string>, key: string, max: bigint): bigint | undefined {
  const raw = members.get(key) ?? 'null';
  if (raw === 'null') return 0n;
  const value = kindOf(raw) === 'number' ? exactInteger(raw) : undefined;
  return value !== undefined && value >= 0n && value <= max ? value : undefined;
}

/** By arithmetic with whole numbers only: a tenth is the first that is none. */
export function exactInteger(raw: string): bigint | undefined {
  const [mantissa = '', exponent = '0'] = raw.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = BigInt(`${whole.replace('-', '')}${fraction}`);
  const shift = Number(exponent) - fraction.length;
  if (digits === 0n) return 0n;
  const size = 10n ** BigInt(Math.min(Math.abs(shift), 100));
  if (shift < 0 && digits % size !== 0n) return undefined;
  const value = shift < 0 ? digits / size : shift > 60 ? HUGE : digits * size;
  return raw.startsWith('-') ? -value : value;
}

/** Whether a target has one of the three forms. */
function isTarget(text: string): boolean {
  if (text === '' || text === 'all') return true;
  const [form, ...rest] = text.split(':');
  const name = rest.join(':');
  if (rest.length === 0 || name === '' || Buffer.byteLength(name) > 250 || /[\u0000-\u001f\u007f]/.test(name))
    return false;
  if (form === 'lane') return true;
  return form === 'address' && !name.split(/[/\\]/).some((part) => ['', '.', '..'].includes(part));
}
