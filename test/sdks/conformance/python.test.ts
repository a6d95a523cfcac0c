import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRegistry } from '../../../src/client/leaves/registry.ts';
import { openRuleSource } from '../../../src/client/rules/rule-source.ts';
import { run, withoutTimes } from '../../client/support/run-rule.ts';
import { sampleLeaves } from '../../client/support/sample-leaves.ts';
import type { Host } from '../host.ts';
import { awaitResult, mockDirectory, putRequest } from '../play-server.ts';
import { prepareSdk } from '../toolchains.ts';
import { differences } from './known-differences.ts';
import { mixedAlls, pythonProcess } from './process-of-steps.ts';
import { AS_OF, createRandom, INPUT, type RandomNode, type RandomRule, randomRule } from './random-rule.ts';

const sdk = await prepareSdk('python');
const suite = sdk.kind === 'ready' ? sdk.artifact : `the published Python SDK (${sdk.reason})`;
const SEED = Number(process.env.CONFORMANCE_SEED ?? 20260301);
const RULES = 700;
/** How each SDK numbers the states an error may become. */
const numbering = { node: { FALSE: 0, TRUE: 1, NONE: 2 }, python: { FALSE: 1, TRUE: 2, NONE: 3 } };

type Ran = { rule: RandomRule; node: Awaited<ReturnType<typeof run>>; python: Record<string, unknown> };

describe.skipIf(sdk.kind !== 'ready')(`${RULES} random rules (seed ${SEED}) beside ${suite}`, () => {
  let sharedDir: string;
  let host: Host;
  let source: Awaited<ReturnType<typeof openRuleSource>>;
  const ran: Ran[] = [];
  const theirs = new Map<number, Record<string, unknown>>();

  beforeAll(async () => {
    if (sdk.kind !== 'ready') return;
    sharedDir = await mkdtemp(join(tmpdir(), 'conformance-'));
    const random = createRandom(SEED);
    const rules = Array.from({ length: RULES }, (_, index) => randomRule(index + 1, random));
    const released = [...rules, ...differences];
    await release(released, join(sharedDir, 'node'), 'node');
    await release(released, join(sharedDir, '7'), 'python');
    host = await sdk.start({ sharedDir, app: 7, pollSeconds: 0.2 });
    const directory = mockDirectory(sharedDir, 7, host);
    for (const { id } of released) await putRequest(directory, `rule${id}`, { iceId: id, ts: AS_OF, roam: INPUT });
    source = await openRuleSource({
      directory: join(sharedDir, 'node'),
      registry: createRegistry(sampleLeaves),
      onProblems: () => {},
    });
    for (const { id } of released) theirs.set(id, JSON.parse(await awaitResult(directory, `rule${id}`, host)));
    for (const rule of rules) {
      const node = await run(source.current(), { ruleId: rule.id, ts: AS_OF, input: INPUT });
      ran.push({ rule, node, python: theirs.get(rule.id) ?? {} });
    }
  }, 120_000);

  afterAll(async () => {
    await host?.kill();
    if (sharedDir) await rm(sharedDir, { recursive: true });
  });

  const agreed = () => ran.filter(({ node }) => mixedAlls(node.steps).length === 0);

  test('at least 500 of them have nothing the SDKs differ in, and they are not all alike', () => {
    const outcomes = agreed().map(({ node }) => String(node.outcome));
    expect(outcomes.length).toBeGreaterThanOrEqual(500);
    for (const outcome of ['TRUE', 'FALSE', 'NONE', 'kaboom']) {
      expect(outcomes.filter((each) => each === outcome).length).toBeGreaterThan(20);
    }
    const names = new Set(agreed().flatMap(({ node }) => node.steps.map(({ name }) => name)));
    for (const name of ['And', 'Any', 'All', 'None', 'True', 'P-And', 'P-Any', 'P-All', 'P-None', 'P-True']) {
      expect(names).toContain(name);
    }
  });

  test('these end alike: the same process text, the same data, the same error', () => {
    for (const { rule, node, python } of agreed()) {
      const success = node.ending.kind === 'done';
      const nodes = new Map(rule.nodes.map((each) => [each.id, each]));
      const process = success ? pythonProcess(node.steps, nodes) || undefined : undefined;
      const data = success ? JSON.parse(node.data) : undefined;
      const error = success ? undefined : node.outcome;
      expect({ rule, ...pythonEnding(python) }).toEqual({ rule, success, process, data, error });
    }
  });

  test('a process text of ours is what its steps stand for', () => {
    for (const { node } of agreed()) {
      if (node.steps.some(({ name }) => name.startsWith('P-'))) continue;
      const outOfTime = /:O(-I)?:0\]/g;
      const nodes = new Map(ran.flatMap(({ rule }) => rule.nodes.map((each) => [each.id, each])));
      expect(node.process).toBe(pythonProcess(node.steps, nodes).replace(outOfTime, ':O]'));
    }
  });

  test.each(differences)('the known difference: $title', async ({ id, node, python }) => {
    const ours = await run(source.current(), { ruleId: id, ts: AS_OF, input: INPUT });
    expect(ours.ending.kind === 'done' ? ours.process : `failed: ${ours.outcome}`).toBe(node);
    const { success, process, error } = theirs.get(id) ?? {};
    expect(success ? withoutTimes(String(process)) : `failed: ${error}`).toBe(python);
  });
});

function pythonEnding({ success, process, roam, error }: Record<string, unknown>) {
  return { success, process: process === undefined ? undefined : withoutTimes(String(process)), data: roam, error };
}

async function release(
  rules: readonly RandomRule[],
  directory: string,
  sdkName: keyof typeof numbering,
): Promise<void> {
  for (const folder of ['bases', 'confs']) await mkdir(join(directory, folder), { recursive: true });
  for (const { id, root, nodes } of rules) {
    await writeFile(
      join(directory, 'bases', `${id}.json`),
      JSON.stringify({ id, confId: root, status: 1, timeType: 1 }),
    );
    for (const node of nodes) await writeFile(join(directory, 'confs', `${node.id}.json`), fileOf(node, sdkName));
  }
  await writeFile(join(directory, 'version.txt'), '1');
}

function fileOf({ errorState, ...node }: RandomNode, sdkName: keyof typeof numbering): string {
  const numbered = typeof errorState === 'string' ? { errorState: numbering[sdkName][errorState] } : { errorState };
  return JSON.stringify({ app: 7, status: 1, timeType: 1, inverse: false, ...node, ...numbered });
}
