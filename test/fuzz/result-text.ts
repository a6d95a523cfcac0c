import fc from 'fast-check';
import {
  deepText,
  type MemberText,
  membersOf,
  numberText,
  objectOf,
  objectText,
  spaces,
  stringText,
  valueText,
} from './json-text.ts';
import { type Content, mutated, unchanged } from './mutations.ts';

/** Stands for the execution's id until a client answers; as long as one. */
export const MOCK_ID = '00000000-0000-4000-8000-00000000000f';
const escapedId = (mockId: string) => mockId.replaceAll('-', '\\u002d');
const ESCAPED_ID = escapedId(MOCK_ID);

/** A result as the client of this execution writes it. */
export function withId(bytes: Buffer, mockId: string): Buffer {
  const text = bytes.toString('latin1').replaceAll(MOCK_ID, mockId).replaceAll(ESCAPED_ID, escapedId(mockId));
  return Buffer.from(text, 'latin1');
}

const mostly = <T>(often: fc.Arbitrary<T>, seldom: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 40, arbitrary: often }, { weight: 1, arbitrary: seldom });
const member = (key: string, value: fc.Arbitrary<string>): fc.Arbitrary<MemberText[]> =>
  value.map((text) => [{ key: `"${key}"`, value: text }]);
const maybe = (members: fc.Arbitrary<MemberText[]>) => fc.oneof(members, fc.constant<MemberText[]>([]));

const idText = mostly(
  fc.constantFrom(`"${MOCK_ID}"`, `"${MOCK_ID}"`, `"${ESCAPED_ID}"`, 'null'),
  fc.oneof(fc.constantFrom('"other"', '1', `"${MOCK_ID.toUpperCase()}"`, `"${MOCK_ID} "`), valueText),
);
const successText = mostly(fc.constantFrom('true', 'false'), fc.constantFrom('null', '"true"', '1', '0', '[]'));
const dataText = mostly(objectText, fc.oneof(fc.constant('null'), valueText, deepText));
const timeText = mostly(numberText, fc.oneof(fc.constant('null'), stringText));

const OURS = ['mockId', 'success', 'the service', 'roam', 'process', 'error', 'executeAt'];
/** Whatever else a client writes, also under names that mean something elsewhere. */
const others = fc
  .tuple(
    membersOf(valueText, 3),
    fc.subarray(['code', 'mayHaveRun', 'status', 'trace', 'ts', '__proto__', 'v', 'stored'], { maxLength: 2 }),
    valueText,
  )
  .map(([members, names, value]) => [
    ...members.filter(({ key }) => ![...OURS, ...names].includes(JSON.parse(key))),
    ...names.map((name) => ({ key: `"${name}"`, value })),
  ]);

const parts = fc.tuple(
  maybe(member('mockId', idText)),
  mostly(member('success', successText), fc.constant<MemberText[]>([])),
  maybe(member('the service', dataText)),
  maybe(member('roam', dataText)),
  maybe(member('process', fc.oneof(stringText, fc.constant('null'), valueText))),
  maybe(member('error', fc.oneof(stringText, fc.constant('null'), valueText))),
  maybe(member('executeAt', timeText)),
  others,
);

/** The text of a result, of either dialect: mostly a good one. */
const goodText = parts
  .chain((members) => fc.tuple(fc.shuffledSubarray(members.flat(), { minLength: members.flat().length }), spaces))
  .map(([members, gaps]) => objectOf(members, gaps));

export const oddResult: fc.Arbitrary<Content> = unchanged(goodText);
export const brokenResult: fc.Arbitrary<Content> = mutated(goodText);

export const resultText: fc.Arbitrary<Content> = fc.oneof(
  { weight: 3, arbitrary: oddResult },
  { weight: 4, arbitrary: brokenResult },
  { weight: 1, arbitrary: unchanged(valueText) },
);
