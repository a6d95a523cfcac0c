import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRuleClient, type RuleClient, type RuleClientOptions } from '../../../src/client/client.ts';
import { createRuleFiles } from '../../support/rule-files.ts';
import { smallLeaves } from './small-leaves.ts';

/** A shared directory with clients of app 7, and what a server does to them: put a request, read the answer. */
export async function createClientFiles() {
  const files = await createRuleFiles();
  const clients: RuleClient[] = [];
  const errors: unknown[] = [];
  let requests = 0;

  const pathIn = (client: RuleClient, ...parts: string[]) => files.pathOf('mock', 7, client.address, ...parts);

  async function put(client: RuleClient, text: string, mockId = `request-${++requests}`): Promise<string> {
    await writeFile(pathIn(client, `.${mockId}.tmp`), text);
    await rename(pathIn(client, `.${mockId}.tmp`), pathIn(client, `${mockId}.json`));
    return mockId;
  }

  async function answerTo(client: RuleClient, mockId: string): Promise<string> {
    return until(() => readFile(pathIn(client, `${mockId}_result.json`), 'utf8').catch(() => undefined));
  }

  return {
    ...files,
    errors,
    put,
    answerTo,
    pathIn,

    /** Starts a client that is closed with the files. */
    async start(options: Partial<RuleClientOptions> = {}): Promise<RuleClient> {
      const client = await createRuleClient({
        ...{ app: 7, sharedDir: files.sharedDir, leaves: smallLeaves },
        ...{ onError: (error: unknown) => errors.push(error), onProblems: () => {} },
        ...options,
      });
      clients.push(client);
      return client;
    },

    /** Sends a request and reads the answer, as text and as what JSON.parse makes of it. */
    async ask(client: RuleClient, request: Record<string, unknown>, input = '{}') {
      const envelope = JSON.stringify({ app: 7, ...request, createAt: Date.now() });
      const mockId = await put(client, `${envelope.slice(0, -1)},"the service":${input}}`);
      const text = await answerTo(client, mockId);
      return { mockId, text, answer: JSON.parse(text) };
    },

    /** Everything in the shared directory that says there are clients. */
    async traces(): Promise<string[]> {
      const names = await readdir(files.sharedDir, { recursive: true });
      return names.filter((name) => /^(mock|clients)\//.test(name)).sort();
    },

    modifiedMs: async (...parts: string[]) => (await stat(join(files.sharedDir, ...parts))).mtimeMs,

    async close(): Promise<void> {
      // Nobody reads the answers of a test: a client need not wait for it.
      for (const client of clients) {
        const names = await readdir(pathIn(client)).catch(() => []);
        for (const name of names.filter((name) => name.endsWith('_result.json'))) await rm(pathIn(client, name));
      }
      await Promise.all(clients.map((client) => client.close()));
      await files.remove();
    },
  };
}

/** What `look` finds, once it finds something. */
export async function until<T>(look: () => Promise<T | undefined>, timeoutMs = 10_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`nothing after ${timeoutMs} ms`);
    await sleep(10);
  }
}
