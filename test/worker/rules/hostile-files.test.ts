import { copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseLeafNodes } from '../../../src/worker/rules/leaves/leaf-nodes.ts';
import { readSchema } from '../../../src/worker/rules/leaves/schema.ts';
import { createRules } from '../../../src/worker/rules/rules.ts';
import { checkTree } from '../../../src/worker/rules/tree/tree-checks.ts';
import { readerOf } from '../../support/registrations.ts';
import { createRuleFiles } from '../../support/rule-files.ts';

let files: Awaited<ReturnType<typeof createRuleFiles>>;
beforeEach(async () => {
  files = await createRuleFiles();
});
afterEach(() => files.remove());

const members = fc.record(
  {
    id: fc.oneof(fc.constant(1), fc.jsonValue()),
    type: fc.oneof(fc.integer({ min: -1, max: 14 }), fc.jsonValue()),
    sonIds: fc.oneof(fc.constantFrom('1', '2,1', ' 1 , 2 ', ',,'), fc.string(), fc.jsonValue()),
    forwardId: fc.oneof(fc.constantFrom(0, 1, 2, -1, null), fc.jsonValue()),
    confField: fc.oneof(fc.json(), fc.string(), fc.jsonValue()),
    confName: fc.oneof(fc.constant('com.sample.AgeFlow'), fc.jsonValue()),
    inverse: fc.jsonValue(),
    timeType: fc.jsonValue(),
    start: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const text = fc.oneof(
  members.map((value) => JSON.stringify(value)),
  fc.string(),
  fc.json(),
);

test('whatever stands in rule and node files, every question gets an answer', async () => {
  const rules = createRules({ sharedDir: files.sharedDir });
  const metadataFor = async () => [readerOf('age')];
  await fc.assert(
    fc.asyncProperty(text, text, text, async (rule, one, two) => {
      await files.write(rule, 7, 'bases', '1.json');
      await files.write(one, 7, 'confs', '1.json');
      await files.write(two, 7, 'confs', '2.json');
      for (const [ruleId, confId] of [
        [1n, null],
        [null, 1n],
        [1n, 2n],
      ] as const) {
        const selection = { app: 7, ruleId, confId };
        expect((await readSchema({ ...selection, lane: null, address: null }, { rules, metadataFor })).kind).toBeTypeOf(
          'string',
        );
        expect((await checkTree(selection, { rules, leafClasses: new Set() })).warnings()).toBeInstanceOf(Array);
      }
      expect((await rules.listRules(7)).kind).toBe('rules');
    }),
    { numRuns: 150 },
  );
});

test('whatever a client published, its leaf nodes are a list', () => {
  const part = fc.record({
    type: fc.constantFrom('literal', 'field', 'composite', 'x'),
    value: fc.jsonValue(),
    parts: fc.jsonValue(),
  });
  const key = fc.record({
    direction: fc.constantFrom('read', 'write', 'x'),
    keyParts: fc.oneof(fc.array(part), fc.jsonValue()),
  });
  const leaf = fc.record({
    clazz: fc.oneof(fc.string(), fc.jsonValue()),
    roamKeys: fc.oneof(fc.array(key), fc.jsonValue()),
  });
  fc.assert(fc.property(fc.oneof(fc.array(leaf), fc.anything()), (value) => Array.isArray(parseLeafNodes(value))));
});

test('a rule that is moved by copy and delete while it is read is never unknown', async () => {
  const rules = createRules({ sharedDir: files.sharedDir });
  await files.rule(1, '"confId":1', 'a');
  await files.rule(2, '"confId":1', 'c');
  await mkdir(files.pathOf(7, 'bases/b'));
  const pathIn = (folder: string) => files.pathOf(7, 'bases', folder, '1.json');
  const move = async (from: string, to: string) => {
    await copyFile(pathIn(from), `${pathIn(to)}.tmp`);
    await rename(`${pathIn(to)}.tmp`, pathIn(to));
    await rm(pathIn(from));
  };
  for (let [from, to, round] = ['a', 'b', 0]; round < 500; [from, to, round] = [to, from, round + 1]) {
    let moved = false;
    const moving = move(from, to).finally(() => {
      moved = true;
    });
    while (!moved) expect((await rules.readRule(7, 1n)).kind).toBe('found');
    await moving;
  }
});

test('a file that is written in place is never half of something else', async () => {
  const rules = createRules({ sharedDir: files.sharedDir });
  await files.node(1, '"type":1,"name":"a"');
  const path = files.pathOf(7, 'confs/1.json');
  let writing = true;
  const writer = (async () => {
    for (let at = 0; writing; at++) {
      await writeFile(path, `{"id":1,"type":1,"name":"${'ab'.charAt(at % 2).repeat(1 + (at % 9000))}"}`);
    }
  })();
  try {
    for (let read = 0; read < 300; read++) {
      const node = await rules.readNode(7, 1n);
      if (node.kind === 'found') expect(node.value.name).toMatch(/^(a+|b+)$/);
      else expect(node.kind).toBe('unusable');
    }
  } finally {
    writing = false;
    await writer;
  }
});
