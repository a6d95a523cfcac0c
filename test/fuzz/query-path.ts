import fc from 'fast-check';

const value = fc.oneof(
  fc.constantFrom(
    '1',
    '2',
    '0',
    '',
    '-1',
    '1.0',
    '1e3',
    '9223372036854775807',
    '9223372036854775808',
    '00001',
    ' 1',
    '+1',
  ),
  fc.constantFrom(
    '%00',
    '%ff',
    '%',
    '%zz',
    '..%2f..%2fetc',
    '%F0%9F%98%80',
    'a b',
    'null',
    '1&app=2',
    '[]',
    '%22',
    '😀',
  ),
  fc.constantFrom('first', 'second', 'blue', 'm_first', '.rule-server', '../..', '%2e%2e', 'x'.repeat(300)),
  fc.string({ unit: fc.constantFrom(...'0123456789abc%&=+;#?/\\.:-_ "<>'), maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }).map(encodeLoosely),
);
const name = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.constantFrom('app', 'app', 'ruleId', 'confId', 'lane', 'address', 'version', 'limit', 'cursor'),
  },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(...'apruleId[]%.'), maxLength: 6 }) },
);
const query = fc
  .array(fc.tuple(name, value), { maxLength: 5 })
  .map((pairs) => pairs.map((pair) => pair.join('=')).join('&'));
const place = fc.constantFrom('schema', 'tree', 'versions', 'rules', 'clients', 'apps', 'executions');

/** A question about rules, clients or executions, with any query string that HTTP lets through. */
export const queryPath = fc
  .tuple(
    place,
    fc.oneof({ weight: 1, arbitrary: query.map((more) => `app=7&ruleId=1&${more}`) }, { weight: 2, arbitrary: query }),
  )
  .map(([at, more]) => `/rule-server/mock/${at}?${more}`.replace(/[^\x21-\x7e]/g, encodeLoosely));

/** As a URL may carry it; what has no UTF-8 is a percent sign that stands alone. */
function encodeLoosely(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return '%';
  }
}
