// The least that HTTP over files can cost: one process, no queue, no claim, no checks, no second reader.
import { randomUUID } from 'node:crypto';
import { watch } from 'node:fs';
import { readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const [sharedDir = '', app = '1', address = 'bench'] = process.argv.slice(2);
const mock = join(sharedDir, 'mock', app, address);
const waiting = new Map<string, (path: string) => void>();

watch(mock, (_event, name) => {
  if (name?.endsWith('_result.json')) waiting.get(name.slice(0, -'_result.json'.length))?.(join(mock, name));
});

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const mockId = randomUUID();
  const answered = new Promise<string>((resolve) => waiting.set(mockId, resolve));
  const draft = join(mock, `.${mockId}.tmp`);
  await writeFile(draft, JSON.stringify({ mockId, ...JSON.parse(Buffer.concat(chunks).toString()) }));
  await rename(draft, join(mock, `${mockId}.json`));
  const path = await answered;
  waiting.delete(mockId);
  const result = await readFile(path);
  await unlink(path);
  response.writeHead(200, { 'content-type': 'application/json' }).end(result);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
