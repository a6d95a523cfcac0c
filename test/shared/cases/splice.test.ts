import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDocument } from '../../../src/shared/cases/document/document.ts';
import { CannotSplice, removeCase, replaceValues, upsertCase } from '../../../src/shared/cases/document/splice.ts';
import { readYaml } from '../../../src/shared/cases/document/yaml-text.ts';

const document = `# kept as it is
app:   9001
ruleId: 1
cases:
  - name: one          # the first
    input: { uid: 9007199254740993, big: 1e400, note: "a line that is long enough for a printer of eighty columns to wrap it" }
    expect: { data: { n: 1,  m: 2 } }

  # about the second
  - name: two
    expect:
      data:
        coupon:
          amount: 20   # money
      outcome: TRUE
`;
const namesOf = (text: string) => {
  const yaml = readYaml(text);
  const read = yaml.kind === 'read' ? readDocument(yaml.json, yaml.lineOf) : yaml;
  if (read.kind === 'refused') throw new Error(JSON.stringify(read.refusals));
  return read.kind === 'document' ? read.document.cases.map(({ name }) => name) : [];
};

describe('replacing a value', () => {
  it('changes nothing but that value', () => {
    expect(replaceValues(document, [{ path: 'cases[0].expect.data.n', json: '9007199254740993' }])).toBe(
      document.replace('n: 1,', 'n: 9007199254740993,'),
    );
    expect(
      replaceValues(document, [
        { path: 'cases[1].expect.data.coupon.amount', json: '25' },
        { path: 'cases[1].expect.outcome', json: '"FALSE"' },
      ]),
    ).toBe(document.replace('amount: 20 ', 'amount: 25 ').replace('outcome: TRUE', 'outcome: "FALSE"'));
  });
  it('keeps the lines that follow a block in whose place it comes', () => {
    const changed = replaceValues(document, [{ path: 'cases[1].expect.data.coupon', json: '{"amount":25}' }]);
    expect(changed).toContain('coupon:\n          {"amount":25}');
    expect(namesOf(changed)).toEqual(['one', 'two']);
  });
  it('refuses a path that is not there', () => {
    expect(() => replaceValues(document, [{ path: 'cases[2].expect', json: '1' }])).toThrow(CannotSplice);
  });
});

describe('one case', () => {
  const flow = '{"app":1,"ruleId":1,"cases":[{"name":"one"}, {"name":"two"}]}';
  const empty = 'app: 1\nruleId: 1\ncases: []\n';
  it.each([document, flow])('is added at the end, replaced by name and removed', (text) => {
    const added = upsertCase(text, { name: 'three', json: '{"name":"three","input":{"uid":9007199254740993}}' });
    expect(namesOf(added)).toEqual(['one', 'two', 'three']);
    expect(added).toContain('9007199254740993}}');
    expect(namesOf(removeCase(added, 'three'))).toEqual(['one', 'two']);
    expect(namesOf(removeCase(added, 'one'))).toEqual(['two', 'three']);
    expect(namesOf(removeCase(added, 'two'))).toEqual(['one', 'three']);
    const replaced = upsertCase(added, { name: 'two', json: '{"name":"two","tags":["new"]}' });
    expect(namesOf(replaced)).toEqual(['one', 'two', 'three']);
    expect(replaced).toContain('"tags":["new"]');
    expect(namesOf(removeCase(removeCase(text, 'one'), 'two'))).toEqual([]);
  });
  it('is added to an empty list, and after a last line without an end', () => {
    expect(namesOf(upsertCase(empty, { name: 'a', json: '{"name":"a"}' }))).toEqual(['a']);
    expect(namesOf(upsertCase(document.trimEnd(), { name: 'a', json: '{"name":"a"}' }))).toEqual(['one', 'two', 'a']);
  });
  it('whatever is added and removed in any order, the document holds it and the rest is untouched', () => {
    const name = fc.constantFrom('one', 'two', 'x: y', '# no', '- a', '"q"', 'ü\n2');
    const change = fc.tuple(fc.boolean(), name);
    fc.assert(
      fc.property(fc.constantFrom(document, flow, empty), fc.array(change, { maxLength: 6 }), (start, changes) => {
        let text: string = start;
        let names = namesOf(start);
        for (const [add, each] of changes) {
          if (!add && !names.includes(each)) continue;
          text = add ? upsertCase(text, { name: each, json: JSON.stringify({ name: each }) }) : removeCase(text, each);
          names = add ? (names.includes(each) ? names : [...names, each]) : names.filter((one) => one !== each);
          expect(namesOf(text)).toEqual(names);
        }
        if (start === document) expect(text.startsWith('# kept as it is\napp:   9001\nruleId: 1\ncases:')).toBe(true);
      }),
    );
  });
});
