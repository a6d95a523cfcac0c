// A client that runs one rule after the other on the thread that polls, as the published SDKs do: POLL_MS between two looks,
// RUN_MS for each rule. It registers as the Python SDK does.
import { mkdirSync, readdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [sharedDir = '', app = '1', address = 'serial', pollMs = '2000', runMs = '20'] = process.argv.slice(2);
const home = join(sharedDir, 'clients', app);
const mock = join(sharedDir, 'mock', app, address);
for (const directory of [home, mock]) mkdirSync(directory, { recursive: true });

const put = (path: string, text: string) => {
  writeFileSync(`${path}.tmp`, text);
  renameSync(`${path}.tmp`, path);
};
const beat = () =>
  put(join(home, `b_${address}.json`), JSON.stringify({ lastHeartbeat: Date.now(), loadedVersion: 1 }));
const startTime = Date.now();
put(
  join(home, `m_${address}.json`),
  `{"address": "${address}", "app": ${app}, "lane": null, "leafNodes": [], "lastHeartbeat": ${startTime}, "startTime": ${startTime}, "loadedVersion": 1}`,
);
beat();
process.send?.('ready');

for (;;) {
  beat();
  const names = readdirSync(mock).filter((name) => name.endsWith('.json') && !name.endsWith('_result.json'));
  for (const name of names) await run(name);
  await sleep(Number(pollMs));
}

async function run(name: string): Promise<void> {
  const taken = take(join(mock, name));
  if (taken === null) return;
  const { mockId, roam } = JSON.parse(taken);
  await sleep(Number(runMs));
  const result = { mockId, success: true, roam, process: '[1:And:T:0]', error: null, executeAt: Date.now() };
  put(join(mock, `${mockId}_result.json`), JSON.stringify(result));
}

/** The text of a request that is deleted with it; null when it was taken back meanwhile. */
function take(path: string): string | null {
  try {
    const text = readFileSync(path, 'utf8');
    unlinkSync(path);
    return text;
  } catch {
    return null;
  }
}
