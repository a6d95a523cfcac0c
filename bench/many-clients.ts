// Registers COUNT clients of an app, and answers for those that are online: `all` of them, or one, the first; at once, or after DELAY_MS.
import { mkdirSync, readFileSync, renameSync, unlinkSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedLeaves } from './rule-files.ts';

const [sharedDir = '', app = '1', count = '1', online = 'all', delayMs = '0'] = process.argv.slice(2);
const home = join(sharedDir, 'clients', app);
const leafNodes = publishedLeaves();
mkdirSync(home, { recursive: true });

function register(address: string): void {
  const registration = {
    address,
    app: Number(app),
    dialect: 'rule',
    sdk: 'node',
    startTime: Date.now(),
    loadedVersion: 1,
    leafNodes,
  };
  writeFileSync(join(home, `m_${address}.json`), JSON.stringify(registration));
}

function beat(address: string, at: number): void {
  const path = join(home, `b_${address}.json`);
  writeFileSync(`${path}.tmp`, JSON.stringify({ lastHeartbeat: at, loadedVersion: 1 }));
  renameSync(`${path}.tmp`, path);
}

function serve(address: string): void {
  const mock = join(sharedDir, 'mock', app, address);
  mkdirSync(mock, { recursive: true });
  watch(mock, (_event, name) => {
    if (!name?.endsWith('.json') || name.endsWith('_result.json') || name.startsWith('.')) return;
    try {
      const { mockId, 'the service': data } = JSON.parse(readFileSync(join(mock, name), 'utf8'));
      unlinkSync(join(mock, name));
      setTimeout(() => answer(join(mock, `${mockId}_result.json`), { mockId, 'the service': data }), Number(delayMs));
    } catch {
      // the event of our own deletion
    }
  });
}

function answer(path: string, answered: object): void {
  const result = { ...answered, success: true, process: '', error: null, executeAt: Date.now() };
  writeFileSync(`${path}.tmp`, JSON.stringify(result));
  renameSync(`${path}.tmp`, path);
}

const addresses = Array.from({ length: Number(count) }, (_, at) => `10.0.0.${at}_client`);
const living = online === 'all' ? addresses : addresses.slice(0, 1);
for (const address of addresses) register(address);
for (const address of living) serve(address);
for (const address of addresses) beat(address, living.includes(address) ? Date.now() : 0);
// A few at a time, as clients do that were not started together: all at once would keep this process from answering.
const SLICES = 100;
let slice = 0;
setInterval(() => {
  for (let at = slice; at < living.length; at += SLICES) beat(living[at] ?? '', Date.now());
  slice = (slice + 1) % SLICES;
}, 10_000 / SLICES);
process.send?.('ready');
