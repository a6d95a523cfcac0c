import { escaped, kindOf, readReference } from './reference.ts';

/** What a caller must get for the bytes of a result file, by a second opinion; null when they are no result. */
export function expectedAnswer(bytes: Buffer, mockId: string, dataField: string): { text: string } | null {
  const reading = readReference(bytes);
  if (reading.kind === 'bad' || kindOf(reading.raw) !== 'object') return null;
  const raw = new Map(reading.members.map((member) => [member.key, member.raw]));
  const given = (key: string) => raw.get(key) ?? 'null';
  if (kindOf(given('success')) !== 'boolean') return null;
  if (given('mockId') !== 'null' && (kindOf(given('mockId')) !== 'string' || JSON.parse(given('mockId')) !== mockId))
    return null;
  if (!['object', 'null'].includes(kindOf(given(dataField)))) return null;
  if (given('executeAt') !== 'null' && !isInt64(given('executeAt'))) return null;

  const own = dataField === 'the service' ? new Set<string>() : new Set(['the service']);
  const complete: [string, string][] = [
    ['mockId', JSON.stringify(mockId)],
    ['the service', '{}'],
    ['process', 'null'],
    ['error', 'null'],
    ['executeAt', 'NOW'],
  ];
  const members = reading.members
    .filter(({ key }) => !own.has(key))
    .map(({ key, raw: text }) => [key === dataField ? 'the service' : key, text] as [string, string]);
  for (const [key, text] of complete) {
    const there = members.find(([name]) => name === key);
    if (!there) members.push([key, text]);
    else if (there[1] === 'null') there[1] = text;
  }
  return { text: `{${members.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}` };
}

function isInt64(raw: string): boolean {
  if (kindOf(raw) !== 'number') return false;
  const [mantissa = '', exponent = '0'] = raw.replace(/^-/, '').toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = BigInt(`${whole}${fraction}`);
  const shift = Number(exponent) - fraction.length;
  if (digits === 0n) return true;
  if (shift > 20 || -shift > raw.length) return false;
  const scale = 10n ** BigInt(Math.abs(shift));
  if (shift < 0 && digits % scale !== 0n) return false;
  const size = shift < 0 ? digits / scale : digits * scale;
  return size < 2n ** 63n || (raw.startsWith('-') && size === 2n ** 63n);
}

/** Whether an answer is this text; `NOW` stands for any time, when the client gave none. */
export function isText(answer: string, expected: string): boolean {
  if (!expected.includes('"executeAt":NOW')) return answer === expected;
  return answer.replace(/"executeAt":\d{13}(?=[,}])/, '"executeAt":NOW') === expected;
}

/** The text of a request file up to its time, by a second opinion. */
export function requestFileText(
  { app, ids, input, target }: { app: number; ids: string; input: string; target: string },
  mockId: string,
): string {
  const text = `{"mockId":"${mockId}","app":${app},${ids}"the service":${input},"target":${JSON.stringify(target)},"createAt":`;
  return escaped(text);
}
