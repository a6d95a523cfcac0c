import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRuleClient, type Data, type RuleClient } from '../../src/client/client.ts';
import { eventually } from '../support/eventually.ts';
import { type Service, startService } from '../support/start-service.ts';

const BIN = join(import.meta.dirname, '../../bin/rule-server.js');
const APP = 7;

class GiveCoupon {
  per = 10;
  doResult(service: Data): boolean {
    if (service.get('cost') === undefined) throw new Error('nothing was spent');
    service.put('coupon', {
      amount: service.double('cost', 0) / this.per,
      uid: service.raw('uid'),
      card: service.get('card'),
    });
    return true;
  }
}

let service: Service;
let client: RuleClient | undefined;
beforeAll(async () => {
  service = await startService({ settings: { CLIENT_TIMEOUT_MS: 30_000 } });
});
afterAll(async () => {
  await client?.close();
  await service.stop();
});

async function release(version: number, per: number): Promise<void> {
  const write = async (folder: string, members: object) => {
    await mkdir(join(service.sharedDir, `${APP}`, folder), { recursive: true });
    await writeFile(
      join(service.sharedDir, `${APP}`, folder, '1.json'),
      JSON.stringify({ id: 1, status: 1, ...members }),
    );
  };
  await write('bases', { confId: 1 });
  await write('confs', { type: 6, confName: 'shop.GiveCoupon', confField: JSON.stringify({ per }) });
  await writeFile(join(service.sharedDir, `${APP}/version.txt`), `${version}`);
}

const test = (path: string) =>
  promisify(execFile)(process.execPath, [BIN, 'test', path, '--url', service.url], { timeout: 60_000 }).then(
    ({ stdout }) => ({ code: 0, said: stdout }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      said: error.stdout + error.stderr,
    }),
  );

it('what a service really ran is a test of the next release: it passes while nothing changed, and says what did', async () => {
  await release(1, 10);
  const to = join(service.sharedDir, 'recorded');
  client = await createRuleClient({
    ...{ app: APP, sharedDir: service.sharedDir, leaves: { 'shop.GiveCoupon': GiveCoupon }, onError: () => {} },
    record: { sample: 1, mask: ['card'], to, maxCases: 3 },
  });
  await client.run({ ruleId: 1, data: { uid: 9007199254740993n, cost: 120.5, card: '4711' } });
  await client.run({ ruleId: 1, data: { cost: 7 } });
  await client.run({ ruleId: 1, data: {} });
  const document = join(to, `rule-1.${client.address}.cases.json`);
  const recorded = await eventually(async () => {
    const text = await readFile(document, 'utf8');
    expect(JSON.parse(text).cases).toHaveLength(3);
    return text;
  });
  expect(recorded).not.toContain('4711');

  expect(await test(to)).toMatchObject({ code: 0, said: expect.stringContaining('3 passed') });
  await release(2, 20);
  await client.reload();
  const changed = await test(document);
  expect(changed).toMatchObject({ code: 1, said: expect.stringContaining('coupon.amount') });
  expect(changed.said).toMatch(/12\.05[\s\S]*6\.025/);
});
