import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Data } from '../../../src/client/engine/data/data.ts';
import { createStore } from '../../../src/client/engine/data/keys.ts';
import { createRegistry } from '../../../src/client/leaves/registry.ts';
import { openRuleSource } from '../../../src/client/rules/rule-source.ts';
import { stringifyExact } from '../../../src/shared/contract/json/raw-number.ts';
import { objectOf } from '../../../src/shared/rules/members.ts';
import { createRuleFiles } from '../../support/rule-files.ts';
import { run } from '../support/run-rule.ts';
import { leafFile, smallLeaves } from '../support/small-leaves.ts';
import { configured, deep, members } from './java-table.ts';

let files: Awaited<ReturnType<typeof createRuleFiles>>;
beforeAll(async () => {
  files = await createRuleFiles();
});
afterAll(() => files.remove());

class Fields {
  text = 'x';
  boolean = true;
  long = 7n;
  double = 7;
  doNone(service: Data): void {
    service.put('fields', { text: this.text, boolean: this.boolean, long: this.long, double: this.double });
  }
}

async function open(options: { strict?: boolean } = {}) {
  const registry = createRegistry({ ...smallLeaves, Fields });
  return openRuleSource({ directory: files.pathOf(7), registry, onProblems: () => {}, ...options });
}

const wide = configured.flatMap(([json, text, boolean, long, double]) => [
  ...[
    ['text', json, text],
    ['boolean', json, boolean],
    ['long', json, long],
    ['double', json, double],
  ],
]);

describe('a configured value is read as the Java SDK reads it', () => {
  let source: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    for (const [at, [field = '', json = '']] of wide.entries()) {
      const confField = JSON.stringify(`{"${at % 2 === 0 ? field : field.toUpperCase()}":${json}}`);
      await files.node(at + 1, `"type":7,"confName":"Fields","confField":${confField}`);
    }
    source = await open();
  });

  test.each(wide.map(([field = '', json = '', holds = ''], at) => ({ field, json, holds, id: at + 1 })))(
    'a $field after $json: $holds',
    async ({ field, holds, id }) => {
      const { ending, execution } = await run(source.current(), { confId: id });
      if (holds === '-') return expect(ending).toMatchObject({ kind: 'failed' });
      expect(ending).toMatchObject({ kind: 'done' });
      const fields = objectOf(stringifyExact(execution.run.store.root.fields ?? null))[field];
      const value = fields === undefined ? '' : stringifyExact(fields);
      expect(field === 'double' ? String(Number(value)) : value).toBe(
        field === 'double' ? String(Number(holds)) : holds,
      );
    },
  );
});

describe('a member of a file is read as the Java SDK reads it', () => {
  test.each(members.map(([member, ending]) => ({ member, ending })))('$member: $ending', async ({ member, ending }) => {
    const written = { status: 1, ...leafFile.T };
    const base = Object.entries(written).filter(([name]) => !new RegExp(`"${name}":`, 'i').test(member));
    await files.write(`{"id":1,"status":1,"type":1,"sonIds":"2"}`, 7, 'confs', '1.json');
    await files.write(
      `${JSON.stringify({ id: 2, ...Object.fromEntries(base) }).slice(0, -1)},${member}}`,
      ...[7, 'confs', '2.json'],
    );
    const { process, leftOut } = await run((await open()).current(), { confId: 1 });
    if (ending.startsWith('[')) expect(process).toBe(ending);
    else expect(leftOut).toEqual([`the child 2 of node 1 is left out: ${ending}`]);
  });
});

describe('a dotted key leads where the Java SDK follows it', () => {
  test.each(deep.map(([before, key, value, after]) => ({ before, key, value, after })))(
    '$before, $key = $value: $after',
    ({ before, key, value, after }) => {
      const root = objectOf(before);
      const data = new Data(
        {
          store: createStore(root),
          ts: 0,
          signal: () => new AbortController().signal,
        },
        null,
      );
      data.putDeep(key, value);
      expect(stringifyExact(root)).toBe(after);
    },
  );
});

test('the table holds at least the 88 edge cases that were found to differ', () => {
  expect(wide.length + members.length + deep.length).toBeGreaterThanOrEqual(88);
});

describe('a guard that cannot run', () => {
  beforeAll(async () => {
    await files.node(901, '"type":6,"confName":"Gives","forwardId":902');
    await files.node(902, '"type":5,"confName":"NotHere"');
    await files.rule(9, '"confId":900');
    await files.node(900, '"type":1,"sonIds":"901"');
  });
  class Gives {
    doResult(service: Data): boolean {
      service.put('given', true);
      return true;
    }
  }
  const openWith = (strict: boolean) =>
    openRuleSource({
      ...{ directory: files.pathOf(7), registry: createRegistry({ Gives }), strict, onProblems: () => {} },
    });
  const sentence = 'the forward condition 902 of node 901 is left out: the class NotHere is not registered';

  test('lets the consequence run with a warning, as in the Java SDK', async () => {
    const { data, leftOut } = await run((await openWith(false)).current(), { ruleId: 9 });
    expect(data).toBe('{"given":true}');
    expect(leftOut).toEqual([sentence]);
  });

  test('keeps a strict client from running the rule at all', async () => {
    const source = await openWith(true);
    const { data, outcome } = await run(source.current(), { ruleId: 9 });
    expect(data).toBe('{}');
    expect(outcome).toBe(`rule 9 is not run, because nothing may be left out of it (strict): ${sentence}`);
    expect(source.current().problems).toContain(outcome);
  });
});
