import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from './host.ts';

/** What is asked of the client. `roam` is raw JSON, so that a number reaches the client as written here. */
export interface Question {
  iceId?: number;
  confId?: number;
  ts?: number;
  roam: string;
}

/** Where a host looks for its requests: the folder is named like its registration file. */
export function mockDirectory(sharedDir: string, app: number, host: Host): string {
  const address = basename(host.registration, '.json').slice('m_'.length);
  return join(sharedDir, 'mock', String(app), address);
}

/** Puts a request in place the way a server does and returns its text. */
export async function putRequest(directory: string, mockId: string, question: Question): Promise<string> {
  const { roam, ...ids } = question;
  const envelope = JSON.stringify({ mockId, app: 7, ...ids, createAt: Date.now() });
  const text = `${envelope.slice(0, -1)},"roam":${roam}}`;
  await mkdir(directory, { recursive: true });
  // Without a file in it an empty folder is taken for an abandoned one while the client runs.
  await writeFile(join(directory, `.${mockId}.open`), '');
  await writeFile(join(directory, `.${mockId}.tmp`), text);
  await rename(join(directory, `.${mockId}.tmp`), join(directory, `${mockId}.json`));
  return text;
}

/** The result file's text, or how waiting for it ended. */
export async function awaitResult(directory: string, mockId: string, host: Host, timeoutMs = 45_000): Promise<string> {
  const deadline = Date.now() + timeoutMs;
  const result = join(directory, `${mockId}_result.json`);
  while (Date.now() < deadline) {
    const text = await readFile(result, 'utf8').catch(() => undefined);
    if (text !== undefined) return text;
    if (host.process.exitCode !== null || host.process.signalCode !== null) return '(the host ended)';
    await sleep(20);
  }
  return `(no result after ${timeoutMs} ms)`;
}
