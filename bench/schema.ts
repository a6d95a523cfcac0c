import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Registration } from '../src/worker/directory/leaf-metadata.ts';
import { parseLeafNodes } from '../src/worker/directory/leaf-nodes.ts';
import { createRules } from '../src/worker/directory/rules.ts';
import { readSchema } from '../src/worker/directory/schema.ts';
import { checkTree } from '../src/worker/directory/tree-checks.ts';

const [APP, RULES, NODES_EACH, CLASSES, REGISTRATIONS] = [1, 200, 50, 40, 1000];

/** 200 rules of 50 nodes in 20 folders: a root, nine relations of four leaves each, four more leaves. */
async function writeRules(sharedDir: string): Promise<void> {
  const write = (path: string, value: object) => writeFile(join(sharedDir, String(APP), path), JSON.stringify(value));
  for (let folder = 0; folder < 20; folder++) {
    await mkdir(join(sharedDir, String(APP), 'bases', `folder-${folder}`), { recursive: true });
  }
  await mkdir(join(sharedDir, String(APP), 'confs'), { recursive: true });
  for (let rule = 1; rule <= RULES; rule++) {
    const root = rule * 1000;
    await write(`bases/folder-${rule % 20}/${rule}.json`, { id: rule, confId: root, status: 1 });
    for (let node = 0; node < NODES_EACH; node++) {
      const id = root + node;
      await write(`confs/${id}.json`, { id, name: `node ${id}`, ...shapeOf(node, root) });
    }
  }
}

function shapeOf(node: number, root: number) {
  const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => root + from + at).join(',');
  if (node === 0) return { type: 1, sonIds: `${ids(1, 10)},${ids(46, 50)}` };
  if (node < 10) return { type: 4, sonIds: ids(6 + node * 4, 10 + node * 4) };
  const confField = JSON.stringify({ key: `input_${(root + node) % 97}`, limit: 5 });
  return { type: 5, confName: `com.sample.Leaf${node % CLASSES}`, confField };
}

function registrations(): Registration[] {
  const keyParts = [{ type: 'field', ref: 'key' }];
  const published = Array.from({ length: CLASSES }, (_, at) => ({
    type: 5,
    clazz: `com.sample.Leaf${at}`,
    iceFields: [{ field: 'key', type: 'string' }],
    roamKeys: [{ direction: 'read', accessMode: 'direct', accessMethod: 'get', keyParts }],
  }));
  return Array.from({ length: REGISTRATIONS }, (_, at) => ({
    address: `10.0.0.${at}`,
    lane: at % 10 === 0 ? 'beta' : null,
    online: at % 3 === 0,
    lastHeartbeat: 1_795_150_000_000 + at,
    leafNodes: parseLeafNodes(published),
  }));
}

async function measure(name: string, calls: number, call: (at: number) => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let at = 0; at < calls; at++) {
    const startedAt = performance.now();
    await call(at);
    times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  const percentile = (share: number) => `${(times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(2)} ms`;
  console.log(`${name.padEnd(36)} p50 ${percentile(0.5)}  p99 ${percentile(0.99)}  n ${calls}`);
}

const sharedDir = await mkdtemp(join(tmpdir(), 'bench-schema-'));
try {
  await writeRules(sharedDir);
  const all = registrations();
  const rules = createRules({ sharedDir });
  const metadataFor = async () => all;
  const leafClasses = new Set(all[0]?.leafNodes.map(({ clazz }) => clazz));
  const selectionOf = (at: number) => ({ app: APP, ruleId: BigInt(1 + (at % RULES)), confId: null });
  const schemaOf = (at: number, address: string | null = null) =>
    readSchema({ ...selectionOf(at), lane: null, address }, { rules, metadataFor });
  const answer = await schemaOf(0);
  if (answer.kind !== 'schema' || answer.fields.length < 30) throw new Error('the schema is not what was written');

  console.log(`${REGISTRATIONS} registrations, ${RULES} rules of ${NODES_EACH} nodes`);
  await measure('schema, first time', RULES, schemaOf);
  await measure('schema, read a moment ago', RULES, schemaOf);
  await new Promise((resolve) => setTimeout(resolve, 2100));
  await measure('schema, read again once settled', RULES, schemaOf);
  await measure('schema, warm', 2000, schemaOf);
  await measure('schema, warm, address offline', 2000, (at) => schemaOf(at, '10.0.0.1'));
  await measure('check before dispatch, warm', 2000, (at) => checkTree(selectionOf(at), { rules, leafClasses }));
  await measure('500 checks of one rule at once', 20, () =>
    Promise.all(Array.from({ length: 500 }, () => checkTree(selectionOf(0), { rules, leafClasses }))),
  );
} finally {
  await rm(sharedDir, { recursive: true, force: true });
}
