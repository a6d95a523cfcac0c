import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, inject, it } from 'vitest';
import { INLINE_BYTES, storedKey } from '../../src/shared/store/key-value-store.ts';
import { eventually } from '../support/eventually.ts';
import { startRedis } from '../support/redis.ts';
import { startService } from '../support/start-service.ts';

const choice = inject('redis');

it.skipIf(choice.kind === 'unavailable')('a large answer to a question is not kept once it was given', async () => {
  const server = await startRedis(choice);
  const redis = new Redis(server.url);
  try {
    await using service = await startService({ queueUrl: server.url });
    await registerMany(join(service.sharedDir, 'clients/7'));
    const { status, text } = await service.call('/rule-server/mock/clients?app=7');
    expect(status).toBe(200);
    expect(text.length).toBeGreaterThan(INLINE_BYTES);
    await eventually(async () => expect(await redis.keys(storedKey('{rule-server}', 'query:*'))).toEqual([]));
  } finally {
    redis.disconnect();
    await server.stop();
  }
});

async function registerMany(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const beat = JSON.stringify({ lastHeartbeat: Date.now(), loadedVersion: 1 });
  for (let count = 0; count < 200; count++) {
    const registration = { address: `client_${count}`, app: 7, startTime: 1, loadedVersion: 1, dialect: 'rule' };
    await writeFile(join(folder, `m_client_${count}.json`), JSON.stringify(registration));
    await writeFile(join(folder, `b_client_${count}.json`), beat);
  }
}
