// A client that answers at once, after DELAY_MS, or after as many ms as the input's `waitMs` says: only the file protocol, nothing
// else. KIND: it registers and answers in our own dialect, or as the `published` SDKs do. LOOK_MS: how
// often it looks where no event tells it.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const [sharedDir = '', app = '1', address = 'bench', delayMs = '0', kind = 'own', lookMs = '1000'] =
  process.argv.slice(2);
const clients = join(sharedDir, 'clients', app);
const mock = join(sharedDir, 'mock', app, address);
mkdirSync(clients, { recursive: true });
mkdirSync(mock, { recursive: true });

const dataField = kind === 'own' ? 'the service' : 'roam';
const dialect = kind === 'own' ? { dialect: 'rule' } : {};
const registration = { address, app: Number(app), ...dialect, startTime: Date.now(), loadedVersion: 1 };
writeFileSync(join(clients, `m_${address}.json`), JSON.stringify(registration));
const beat = () =>
  writeFileSync(join(clients, `b_${address}.json`), JSON.stringify({ lastHeartbeat: Date.now(), loadedVersion: 1 }));
beat();
setInterval(beat, 5000);

function pickUp(name: string | null): void {
  if (!name?.endsWith('.json') || name.endsWith('_result.json') || name.startsWith('.')) return;
  try {
    const request = JSON.parse(readFileSync(join(mock, name), 'utf8'));
    unlinkSync(join(mock, name));
    const { waitMs = Number(delayMs) } = request[dataField] ?? {};
    if (waitMs === 0) answer(request);
    else setTimeout(() => answer(request), waitMs);
  } catch {
    // the event of our own deletion, or taken already
  }
}

function answer({ mockId, [dataField]: data }: { mockId: string; [member: string]: unknown }): void {
  const path = join(mock, `${mockId}_result.json`);
  const result = {
    mockId,
    success: true,
    [dataField]: data,
    process: '[1:And:T:0]',
    error: null,
    executeAt: Date.now(),
  };
  writeFileSync(`${path}.tmp`, JSON.stringify(result));
  renameSync(`${path}.tmp`, path);
}

/** The published server removes a directory that is empty, and watching it ends with it. */
function watchAnew(): void {
  mkdirSync(mock, { recursive: true });
  watch(mock, (_event, name) => pickUp(name));
}
watchAnew();
setInterval(() => {
  if (!existsSync(mock)) watchAnew();
  for (const name of readdirSync(mock)) pickUp(name);
}, Number(lookMs));
process.send?.('ready');
