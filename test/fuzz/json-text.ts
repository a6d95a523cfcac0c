import fc from 'fast-check';

/** JSON as a text of its own making, so that nobody's printer decides how it is spelled. */

const digits = (options: { minLength?: number; maxLength: number }) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), ...options });

/** White space as JSON knows it; mostly none. */
export const space = fc.oneof(
  { weight: 5, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 3 }) },
);

const wholeText = fc.oneof(
  fc.constant('0'),
  fc.tuple(fc.constantFrom(...'123456789'), digits({ maxLength: 25 })).map((parts) => parts.join('')),
);

/** Numbers in every spelling, most of which a parser would change. */
export const numberText = fc.oneof(
  fc.constantFrom('9007199254740993', '-0', '0.10', '1.0', '1e400', '-1E+400', '1e-400', '0e0', '-0.0', '123456789E-3'),
  fc
    .tuple(
      fc.constantFrom('', '-'),
      wholeText,
      fc.oneof(
        fc.constant(''),
        digits({ minLength: 1, maxLength: 20 }).map((fraction) => `.${fraction}`),
      ),
      fc.oneof(
        fc.constant(''),
        fc
          .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), digits({ minLength: 1, maxLength: 4 }))
          .map((parts) => parts.join('')),
      ),
    )
    .map((parts) => parts.join('')),
);

const character = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...'abcXYZ 019_-/@$.,:{}[]') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('é', '☃', '😀', '日', '\u2028', '\u2029', '\u007f', '\u0080', '\ufeff', '\uffff'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...['\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t', '\\u0041', '\\u0000', '\\uFFFE'],
      ...['\\ud83d\\ude00', '\\ud800', '\\uDFFF', '\\u00e9'],
    ),
  },
);

/** Strings with their quotes, as written. */
export const stringText = fc.string({ unit: character, maxLength: 12 }).map((inside) => `"${inside}"`);

const keyText = fc.oneof(
  { weight: 8, arbitrary: stringText },
  { weight: 1, arbitrary: fc.constantFrom('"__proto__"', '"constructor"', '"toString"', '"10"', '"9"', '""') },
);

export type MemberText = { key: string; value: string };

/** Members whose keys differ, however they are spelled. */
export const membersOf = (value: fc.Arbitrary<string>, maxLength = 4) =>
  fc.uniqueArray(fc.record({ key: keyText, value }), { maxLength, selector: ({ key }) => JSON.parse(key) });

/** An object of these members, with white space here and there. */
export const objectOf = (members: MemberText[], spaces: string[] = []) => {
  let used = 0;
  const gap = () => spaces[used++ % (spaces.length || 1)] ?? '';
  const inside = members.map(({ key, value }) => `${gap()}${key}${gap()}:${gap()}${value}${gap()}`);
  return `{${inside.length > 0 ? inside.join(',') : gap()}}`;
};

export const spaces = fc.array(space, { minLength: 1, maxLength: 7 });

const tied = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { weight: 2, arbitrary: fc.constantFrom('null', 'true', 'false', '[]', '{}') },
    { weight: 4, arbitrary: numberText },
    { weight: 3, arbitrary: stringText },
    { weight: 2, arbitrary: tie('array') },
    { weight: 3, arbitrary: tie('object') },
  ),
  array: fc
    .tuple(fc.array(tie('value'), { maxLength: 4 }), spaces)
    .map(([items, [before = '', after = '']]) => `[${items.map((item) => before + item + after).join(',')}]`),
  object: fc.tuple(membersOf(tie('value')), spaces).map(([members, gaps]) => objectOf(members, gaps)),
}));

export const valueText = tied.value;
export const objectText = tied.object;

/** Around the deepest nesting that is taken. */
export const deepText = fc
  .tuple(fc.integer({ min: 190, max: 206 }), fc.boolean(), numberText)
  .map(([levels, asArrays, core]) =>
    asArrays ? '['.repeat(levels) + core + ']'.repeat(levels) : '{"a":'.repeat(levels) + core + '}'.repeat(levels),
  );
