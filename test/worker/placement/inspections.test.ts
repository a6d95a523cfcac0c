import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { JobData } from '../../../src/shared/contract/job.ts';
import { createPublishedMetadata } from '../../../src/worker/clients/published-metadata.ts';
import { noteFileSystem } from '../../../src/worker/files/file-system.ts';
import { createInspections } from '../../../src/worker/placement/inspections.ts';
import { createRules } from '../../../src/worker/rules/rules.ts';
import { createRuleFiles } from '../../support/rule-files.ts';
import { captureLog } from '../../support/start-service.ts';

let files: Awaited<ReturnType<typeof createRuleFiles>>;
beforeEach(async () => {
  files = await createRuleFiles();
});
afterEach(() => files.remove());

const client = { address: 'here', dialect: 'ice', sdk: 'java', leafNodes: [{ clazz: 'a.Known', type: 5 }] } as const;
const data: JobData = {
  ...{ v: 1, app: 7, ruleId: '1', confId: null, ts: null },
  ...{ target: 'all', input: '{}', claimBy: 0, keyName: null },
};

const readVersion = async () => null;
const versionStamp = async () => '';

type Sources = Parameters<typeof createInspections>[0];

function inspections(
  rules: Sources['rules'] = createRules({ sharedDir: files.sharedDir }),
  more: Partial<Sources> = {},
) {
  const { log, lines } = captureLog();
  const { sharedDir } = files;
  const { leafClassesOf } = createPublishedMetadata({ sharedDir, listClients: async () => [] });
  const { inspect } = createInspections({ rules, leafClassesOf, listClients: async () => [], log, ...more });
  const codes = async () => {
    const inspection = await inspect(client, data);
    return inspection.kind === 'clear' ? inspection.warnings().map(({ code }) => code) : inspection.noAnswer.code;
  };
  return { codes, lines };
}

test('a thousand calls of one rule read its files a few times', async () => {
  await files.rule(1, '"confId":1');
  await files.node(1, '"type":5,"confName":"a.Absent"');
  const rules = createRules({ sharedDir: files.sharedDir });
  const readGraph = vi.fn(rules.readGraph);
  const { codes } = inspections({ ...rules, readGraph });
  for (let call = 0; call < 1000; call++) expect(await codes()).toEqual(['missing-leaf-class']);
  expect(readGraph.mock.calls.length).toBeLessThan(20);
});

describe('a release is seen at once, though the rule was looked at a moment ago', () => {
  async function seesRelease(): Promise<void> {
    await files.rule(1, '"confId":1');
    await files.node(1, '"type":5,"confName":"a.Known"');
    await files.write('1', 7, 'version.txt');
    const { codes } = inspections();
    expect(await codes()).toEqual([]);
    await delay(20); // the clock of a file system may stand still for 4 ms, and a new file may get the number of the old one
    await files.node(1, '"type":1,"sonIds":"1"');
    await files.write('2', 7, 'version.txt');
    expect(await codes()).toBe('cycle');
  }

  test('on a local file system', async () => {
    await noteFileSystem(files.sharedDir);
    await seesRelease();
  });
});

test('a circle that was taken out a moment ago is not held against the rule', async () => {
  await files.rule(1, '"confId":1');
  await files.node(1, '"type":1,"sonIds":"1"');
  const { codes } = inspections();
  expect(await codes()).toBe('cycle');
  await files.node(1, '"type":1');
  expect(await codes()).toEqual([]);
});

test('rules that take too long to read do not hold an execution up, which is a warning', async () => {
  const readGraph = () => delay(60_000, { kind: 'no-rules' as const }, { ref: false });
  expect(await inspections({ readGraph, readVersion, versionStamp }, { checkWithinMs: 50 }).codes()).toEqual([
    'not-checked',
  ]);
});

test('rules that fail to be read are run unchecked, and the log says so once', async () => {
  const { codes, lines } = inspections({
    readGraph: async () => {
      throw new Error('the disk is gone');
    },
    readVersion,
    versionStamp,
  });
  for (let call = 0; call < 3; call++) expect(await codes()).toEqual([]);
  expect(lines.map(({ msg }) => msg)).toEqual(['Rules cannot be checked before they are run: they are run unchecked']);
});
