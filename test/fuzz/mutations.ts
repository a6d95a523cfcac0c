import fc from 'fast-check';

/** Some bytes, shown as text when a case is told. */
export type Content = { bytes: Buffer };

export function content(bytes: Buffer): Content {
  return Object.defineProperty({ bytes }, fc.toStringMethod, {
    value: () => `content(Buffer.from(${JSON.stringify(bytes.toString('latin1'))}, 'latin1'))`,
  });
}

const piece = fc.constantFrom(
  ...['{', '}', '[', ']', '"', ',', ':', '\\', '-', '.', 'e5', '0', '1', ' ', '\n', '\u0000', '\u001f', '/**/', "'"],
  ...[
    'null',
    'true',
    'NaN',
    '-Infinity',
    '"a":1,"a":2',
    '{}',
    'é',
    '\ufeff',
    '"app":1,',
    '\\u',
    '\\ud83d',
    '0x1',
    '+1',
  ],
);

type Edit = (bytes: Buffer) => Buffer;

const place = fc.nat({ max: 10_000 });
const cutAt = (bytes: Buffer, at: number, gone: number, put: Uint8Array) => {
  const start = at % (bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(start + gone)]);
};

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.tuple(place, piece).map(
    ([at, text]): Edit =>
      (bytes) =>
        cutAt(bytes, at, 0, Buffer.from(text)),
  ),
  fc.tuple(place, fc.nat(3)).map(
    ([at, gone]): Edit =>
      (bytes) =>
        cutAt(bytes, at, gone + 1, Buffer.alloc(0)),
  ),
  fc.tuple(place, fc.nat(255)).map(
    ([at, byte]): Edit =>
      (bytes) =>
        cutAt(bytes, at, 1, Buffer.of(byte)),
  ),
  place.map(
    (at): Edit =>
      (bytes) =>
        bytes.subarray(0, at % (bytes.length + 1)),
  ),
  fc.tuple(place, place, fc.nat(40)).map(
    ([from, to, length]): Edit =>
      (bytes) => {
        const start = from % (bytes.length + 1);
        return cutAt(bytes, to, 0, bytes.subarray(start, start + length));
      },
  ),
  fc.constant<Edit>((bytes) => Buffer.concat([Buffer.from('\ufeff'), bytes])),
  fc.uint8Array({ maxLength: 4 }).map(
    (more): Edit =>
      (bytes) =>
        Buffer.concat([bytes, more]),
  ),
);

/** The same bytes after one to three slips. */
export const mutated = (text: fc.Arbitrary<string>): fc.Arbitrary<Content> =>
  fc
    .tuple(text, fc.array(edit, { minLength: 1, maxLength: 3 }))
    .map(([valid, edits]) => content(edits.reduce<Buffer>((bytes, change) => change(bytes), Buffer.from(valid))));

export const unchanged = (text: fc.Arbitrary<string>): fc.Arbitrary<Content> =>
  text.map((valid) => content(Buffer.from(valid)));
