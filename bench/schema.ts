import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Registration } from '../src/worker/rules/leaves/leaf-metadata.ts';
import { parseLeafNodes } from '../src/worker/rules/leaves/leaf-nodes.ts';
import { readSchema } from '../src/worker/rules/leaves/schema.ts';
import { createRules } from '../src/worker/rules/rules.ts';
import { checkTree } from '../src/worker/rules/tree/tree-checks.ts';
import { NODES_EACH, publishedLeaves, RULES, writeRules } from './rule-files.ts';

const [APP, REGISTRATIONS] = [1, 1000];

function registrations(): Registration[] {
  const published = publishedLeaves();
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
  await writeRules(sharedDir, APP);
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
