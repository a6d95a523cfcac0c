// `npm run bench`: all parts, one after the other, and last every goal beside what was measured. `npm run bench -- network ledger`
// runs these parts alone. Linux and redis-server on the PATH; a part that needs more says so. Fails only when a part breaks.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FINDINGS_FILE, readFindings } from './findings.ts';
import { goalTable } from './goal-table.ts';

const parts = [
  ...['beside-floor', 'open-waits', 'ledger', 'apis', 'listings', 'published-sdk'],
  ...['network', 'network-waits', 'node-noticing'],
  ...['gateways', 'engine', 'hostile-key'],
];

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !parts.includes(name));
if (unknown.length > 0) throw new Error(`There is no part ${unknown.join(', ')}. There are ${parts.join(', ')}.`);

const home = await mkdtemp(join(tmpdir(), 'rule-server-bench-'));
const findings = join(home, 'findings');
const broken: string[] = [];
const startedAt = performance.now();
try {
  await writeFile(findings, '');
  for (const part of wanted.length > 0 ? wanted : parts) {
    console.log(`\n== bench/${part}.ts`);
    const env = { ...process.env, [FINDINGS_FILE]: findings };
    const child = spawn(process.execPath, [join(import.meta.dirname, `${part}.ts`)], { env, stdio: 'inherit' });
    const [code, signal] = await once(child, 'exit');
    if (code !== 0) broken.push(`bench/${part}.ts broke: it ended with ${code ?? signal}`);
  }
  const minutes = (performance.now() - startedAt) / 60_000;
  console.log(`\n== Goals, after ${minutes.toFixed(1)} minutes\n${goalTable(readFindings(findings))}`);
  for (const sentence of broken) console.log(sentence);
} finally {
  await rm(home, { recursive: true });
}
if (broken.length > 0) process.exitCode = 1;
