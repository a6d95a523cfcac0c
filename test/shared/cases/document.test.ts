import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CaseDocument, readDocument } from '../../../src/shared/cases/document/document.ts';
import { readCase } from '../../../src/shared/cases/document/read-case.ts';
import { createRefusals, refusalLines } from '../../../src/shared/cases/document/refusal.ts';
import { readYaml } from '../../../src/shared/cases/document/yaml-text.ts';
import { elementsOf } from '../../../src/shared/cases/split-array.ts';
import { cpuMsOf } from '../../support/cpu-ms.ts';

function read(text: string): CaseDocument {
  const yaml = readYaml(text);
  if (yaml.kind === 'refused') throw new Error(refusalLines('x.yaml', yaml.refusals));
  const found = readDocument(yaml.json, yaml.lineOf);
  if (found.kind === 'refused') throw new Error(refusalLines('x.yaml', found.refusals));
  return found.document;
}
const inCase = (members: string) =>
  `app: 1\nruleId: 1\ncases:\n  - name: one\n    ${members.replaceAll('\n', '\n    ')}\n`;
const firstOf = (members: string) => read(inCase(members)).cases[0];

describe('a document', () => {
  it('is read whole, every number as it is written', () => {
    const document = read(`app: 9001
ruleId: 9223372036854775807
defaults: { input: { city: Berlin, level: 1 } }
cases:
  - name: spends 100
    input: { uid: 9007199254740993, cost: 120.10, level: 2, big: 1e400, zero: -0 }
    asOf: 2026-03-15T12:00:00+08:00
    tags: [release]
    expect:
      outcome: TRUE
      data: { coupon: { amount: 20 } }
      absent: [blocked, "items[0].tax"]
      nodes: { 4: TRUE, 7: NOT_REACHED }
      error: insufficient
      withinMs: 500
  - name: nothing is expected
`);
    expect(document).toEqual({
      app: 9001,
      ruleId: '9223372036854775807',
      confId: null,
      ignore: [],
      cases: [
        {
          name: 'spends 100',
          input: '{"city":"Berlin","uid":9007199254740993,"cost":120.10,"level":2,"big":1e400,"zero":-0}',
          ts: String(Date.parse('2026-03-15T04:00:00Z')),
          tags: ['release'],
          skip: false,
          line: 5,
          expect: {
            outcome: 'TRUE',
            data: '{"coupon":{"amount":20}}',
            absent: ['blocked', 'items[0].tax'],
            nodes: { 4: 'TRUE', 7: 'NOT_REACHED' },
            error: 'insufficient',
            withinMs: 500,
          },
        },
        {
          name: 'nothing is expected',
          input: '{"city":"Berlin","level":1}',
          ts: null,
          tags: [],
          skip: false,
          line: 16,
          expect: null,
        },
      ],
    });
  });

  it.each(['TRUE', '"TRUE"', 'true', "'TRUE'"])('takes %s for the outcome TRUE', (text) =>
    expect(firstOf(`expect: { outcome: ${text} }`)?.expect?.outcome).toBe('TRUE'),
  );

  it('keeps the order of members, also of those that look like numbers', () => {
    expect(firstOf('input: { b: 1, "2": 1, "1": 1, a: 1 }')?.input).toBe('{"b":1,"2":1,"1":1,"a":1}');
  });

  it('reads JSON as well', () => {
    const json = '{"app":1,"ruleId":2,"cases":[{"name":"a\\/b","input":{"x":"\\ud83d\\ude00","n":1e400}}]}';
    expect(read(json).cases[0]).toMatchObject({ name: 'a/b', input: '{"x":"😀","n":1e400}', line: 1 });
  });

  it.each([
    ['expect: { outcom: TRUE }', 'x.yaml:5: cases[0].expect.outcom is not known here; did you mean "outcome"?'],
    ['inputs: { a: 1 }', 'x.yaml:5: cases[0].inputs is not known here; did you mean "input"?'],
    [
      'expect:\n  outcome: TRU',
      'x.yaml:6: cases[0].expect.outcome must be one of TRUE, FALSE, NONE, ERROR; did you mean TRUE?',
    ],
    ['expect:\n  nodes: { four: TRUE }', 'x.yaml:6: cases[0].expect.nodes.four must be the id of a node'],
    ['expect: { absent: ["a["] }', 'x.yaml:5: cases[0].expect.absent[0] must be a path such as a.b[0]["c.d"]'],
    ['expect: { data: { a: { $approx: 1e500, $by: 1 } } }', 'x.yaml:5: cases[0].expect.data.a has a number beyond'],
    ['asOf: 2026-03-15T12:00:00', 'x.yaml:5: cases[0].asOf must be a time with an offset'],
    ['asOf: 20260315', 'x.yaml:5: cases[0].asOf must be a time with an offset'],
    ['asOf: 46096', 'x.yaml:5: cases[0].asOf must be a time with an offset'],
    ['asOf: 1774310400', 'x.yaml:5: cases[0].asOf is in seconds: give milliseconds'],
    ['input: [1]', 'x.yaml:5: cases[0].input must be an object'],
    ['name: two', 'x.yaml:5: cases[0].name is given twice'],
  ])('with %j is refused with its line', (members, message) => expect(() => firstOf(members)).toThrow(message));

  it('with two cases of one name is refused', () => {
    expect(() => read('cases:\n  - name: a\n  - name: a\n')).toThrow(
      'x.yaml:3: cases[1].name is the name of case 1 as well: "a"',
    );
  });
});

describe('YAML', () => {
  it.each(['012', '0x1F', '0o17', '+1', '.5', '1.', '.inf', '-.INF', '.nan'])(
    'has numbers JSON does not know, refused with their line: %s',
    (text) =>
      expect(() => firstOf(`input:\n  a: ${text}`)).toThrow(
        /x\.yaml:6: cases\[0\]\.input\.a is a number JSON does not know/,
      ),
  );
  it.each(['yes', 'no', 'on', '1_000', '2026-03-15', '12:30:45', '~x', '0b1'])(
    'has texts that look like more: %s',
    (text) => expect(firstOf(`input: { a: ${text} }`)?.input).toBe(`{"a":${JSON.stringify(text)}}`),
  );
  it('refuses aliases and so cannot explode', () => {
    const bomb = Array.from(
      { length: 30 },
      (_, index) => `a${index}: &a${index} [${`*a${index - 1},`.repeat(index === 0 ? 0 : 9)}]`,
    );
    expect(() => firstOf(`input:\n  ${bomb.join('\n  ')}`)).toThrow('is an alias (*a0): write the value again');
  });
  it('refuses tags', () =>
    expect(() => firstOf('input: { a: !!str 1 }')).toThrow('x.yaml:5: cases[0].input.a has a tag'));
  it('refuses keys in an input that are not text', () => {
    expect(() => firstOf('input: { 4: 1 }')).toThrow('x.yaml:5: cases[0].input["4"] is a key that is not text');
    expect(() => firstOf('input: { [a]: 1 }')).toThrow('is a key that is not text');
    expect(() => firstOf('input: { null: 1 }')).toThrow('is a key that is not text');
  });
  it('takes << for a plain key, never for a merge', () =>
    expect(firstOf('input: { <<: { a: 1 } }')?.input).toBe('{"<<":{"a":1}}'));
  it('refuses another version of YAML, in which 010 and yes mean something else', () => {
    expect(() => read('%YAML 1.1\n---\ncases: []\n')).toThrow('must be YAML 1.2');
  });
  it('refuses several documents, an empty one, and what is no YAML with its line', () => {
    expect(() => read('a: 1\n---\nb: 1\n')).toThrow('several');
    expect(() => read('')).toThrow('is empty');
    expect(() => read('a: 1\nb: [\n')).toThrow(/x\.yaml:[23]: /);
  });
  it.each([
    ['brackets', '['.repeat(500_000)],
    ['objects', '{a: '.repeat(100_000)],
    ['dashes', '- '.repeat(300_000)],
    ['question marks', '? '.repeat(100_000)],
    ['indents', Array.from({ length: 1300 }, (_, index) => `${' '.repeat(index)}a:`).join('\n')],
  ])('that nests deeper than anybody reads is refused, not followed until the process dies: %s', (_, text) =>
    expect(() => read(text)).toThrow('nested deeper than 200 levels'),
  );
  it('with 50,000 members is read in a moment', () => {
    const members = Array.from({ length: 50_000 }, (_, index) => `k${index}: ${index}`).join(', ');
    const read = () => firstOf(`input: { ${members} }`);
    expect(cpuMsOf(() => expect(read()?.input.length).toBeGreaterThan(500_000))).toBeLessThan(20_000);
  });
});

it('splits any JSON array into its elements as they are written', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.boolean(), (values, spread) => {
      const texts = values.map((value) => JSON.stringify(value, undefined, spread ? 2 : 0));
      expect(elementsOf(`[ ${texts.join(' ,\n ')} ]`)).toEqual(texts);
    }),
  );
});

it('the example in the repository can be read', () => {
  expect(read(readFileSync('examples/demo.cases.yaml', 'utf8')).cases.length).toBeGreaterThan(2);
});

it('a request has every time that a call may have: a replay sends those of earlier runs', () => {
  const refusals = createRefusals();
  expect(readCase('{"the service":{},"ts":170000000}', { at: refusals.at('cases', 0), index: 0 }).ts).toBe('170000000');
  expect(refusals.all).toEqual([]);
});
