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
import { type Content, content, mutated, unchanged } from './mutations.ts';

const rarely = <T>(often: fc.Arbitrary<T>, seldom: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 12, arbitrary: often }, { weight: 1, arbitrary: seldom });

const idText = fc.oneof(
  fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String),
  fc.nat({ max: 9999 }).map((id) => `${id + 1}`),
  fc.constantFrom('1.0', '10e-1', '1E3', '9223372036854775807', '9007199254740993', '0.5e1', '1e18'),
);
const badId = fc.oneof(
  fc.constantFrom('9223372036854775808', '-1', '1.5', '1e400', '"1"', 'true', '[]', '{}', '0', '-0', 'null', '1e-1'),
  numberText,
  valueText,
);

const appText = fc.constantFrom('1', '1', '1', '2', '1.0', '1e0', '20e-1');
const badApp = fc.oneof(fc.constantFrom('0', '-1', '2147483648', '1.5', '"1"', 'null', '3', '1e400'), valueText);

const targetText = fc.constantFrom('"all"', '""', 'null', '"lane:blue"', '"address:first"', '"\\u0061ll"', '"all"');
const badTarget = fc.oneof(
  fc.constantFrom(
    '"lane:"',
    '"address:"',
    '"address:../x"',
    '"address:a/b"',
    '"ALL"',
    '"lane:gone"',
    '"address:nobody"',
  ),
  fc.constantFrom(
    '"address:a\\u0000"',
    `"lane:${'x'.repeat(300)}"`,
    '"address:."',
    '"address:.x"',
    '"lane:é"',
    '1',
    '[]',
  ),
  stringText,
);

const inputText = fc.oneof({ weight: 6, arbitrary: objectText }, { weight: 1, arbitrary: fc.constant('null') });
const badInput = fc.oneof(
  valueText,
  deepText,
  fc.constantFrom('{"a":1,"a":2}', '{"a":[{"b":1,"\\u0062":2}]}', '[]', '"{}"'),
);

const nearMiss = fc.constantFrom(
  ...['"roam"', '"iceId"', '"ruleID"', '"the_service"', '"targt"', '"theService"', '"the  service"', '"App"', '"TS"'],
  ...['"rule_id"', '"confID"', '"service"', '"Target"', '"taregt"', '"rulId"'],
);
const others = rarely(
  fc.constant<MemberText[]>([]),
  fc.oneof(
    membersOf(valueText, 2),
    fc.record({ key: nearMiss, value: valueText }).map((member) => [member]),
  ),
);

const member = (key: string, value: fc.Arbitrary<string>): fc.Arbitrary<MemberText[]> =>
  fc.record({ key: rarely(fc.constant(`"${key}"`), fc.constant(`"${unicode(key)}"`)), value }).map((one) => [one]);
const maybe = (members: fc.Arbitrary<MemberText[]>) => fc.oneof(fc.constant<MemberText[]>([]), members);

const known = fc.tuple(
  rarely(member('app', rarely(appText, badApp)), fc.constant<MemberText[]>([])),
  rarely(member('ruleId', rarely(idText, badId)), fc.constant<MemberText[]>([])),
  maybe(member('confId', rarely(fc.oneof(idText, fc.constantFrom('0', 'null')), badId))),
  maybe(member('ts', rarely(idText, badId))),
  member('the service', rarely(inputText, badInput)),
  maybe(member('target', rarely(targetText, badTarget))),
  others,
);

/** The text of a request: mostly one that can be run, spelled in every way that means the same. */
export const requestText = known
  .chain((parts) => fc.tuple(fc.shuffledSubarray(parts.flat(), { minLength: parts.flat().length }), spaces))
  .map(([members, gaps]) => objectOf(members, gaps));

/** A body as somebody might send it: most are requests or nearly so, some are anything. */
export const requestBody: fc.Arbitrary<Content> = fc.oneof(
  { weight: 8, arbitrary: unchanged(requestText) },
  { weight: 8, arbitrary: mutated(requestText) },
  { weight: 1, arbitrary: unchanged(valueText) },
  { weight: 1, arbitrary: fc.tuple(requestText, fc.integer({ min: 4000, max: 16_000 })).map(padded) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => content(Buffer.from(bytes))) },
);

/** A request just below or above what is taken, when that is 4 KiB. */
function padded([text, length]: [string, number]): Content {
  return content(Buffer.from(text.padEnd(length)));
}

/** The same key in other letters. */
function unicode(key: string): string {
  return Array.from(key, (char) => `\\u${(0x10000 + char.charCodeAt(0)).toString(16).slice(1)}`).join('');
}
