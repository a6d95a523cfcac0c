import { readdir, readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Data, RecordOptions } from '../../src/client/client.ts';
import { readDocument } from '../../src/shared/cases/document/document.ts';
import { createClientFiles } from './support/client-files.ts';

let files: Awaited<ReturnType<typeof createClientFiles>>;
beforeEach(async () => {
  files = await createClientFiles();
  await files.rule(1, '"confId":1');
  await files.node(1, '"type":6,"confName":"shop.Pay"');
});
afterEach(() => files.close());

class Pay {
  doResult(service: Data): boolean {
    if (service.get('amount') === undefined) throw new Error('no amount');
    service.put('paid', { card: service.get('card'), amount: service.raw('amount') });
    return true;
  }
}

async function start(record: Partial<RecordOptions> = {}) {
  const to = files.pathOf('recorded');
  const client = await files.start({ leaves: { 'shop.Pay': Pay }, record: { sample: 1, to, ...record } });
  return { client, to };
}

async function recordedIn(to: string) {
  const [name = '', ...others] = await readdir(to);
  const read = readDocument(await readFile(`${to}/${name}`, 'utf8'), () => null);
  if (read.kind === 'refused') throw new Error(JSON.stringify(read.refusals));
  return { name, others, document: read.document };
}

test('a time that no calendar has leaves the run what it came to', async () => {
  const { client } = await start();
  const ran = await client.run({ ruleId: 1, ts: Number.MIN_SAFE_INTEGER, data: { amount: 1 } });
  expect(ran.outcome).toBe('TRUE');
  await client.close();
});

test('runs of the service and of the server become cases, exact, with the outcome and what changed', async () => {
  const { client, to } = await start({ mask: ['card'] });
  await client.run({ ruleId: 1, ts: 5, data: { amount: 9007199254740993n, card: '4711' } });
  await files.ask(client, { ruleId: 1 }, '{"amount":0.10,"cart":[{"card":1}]}');
  await client.run({ ruleId: 1, data: {} });
  await client.close();
  const { name, others, document } = await recordedIn(to);
  expect(name).toBe(`rule-1.${client.address}.cases.json`);
  expect(others).toEqual([]);
  expect(document).toMatchObject({ app: 7, ruleId: '1', confId: null });
  expect(document.cases.map(({ input, expect }) => ({ input, expect }))).toEqual([
    {
      input: '{"amount":9007199254740993,"card":"***"}',
      expect: { outcome: 'TRUE', data: '{"paid":{"card":{"$any":true},"amount":9007199254740993}}' },
    },
    {
      input: '{"amount":0.10,"cart":[{"card":"***"}]}',
      expect: { outcome: 'TRUE', data: '{"paid":{"amount":0.10}}' },
    },
    { input: '{}', expect: { outcome: 'ERROR' } },
  ]);
  expect(document.cases[0]?.ts).toBe('5');
});

test('is bounded: no more than so many cases of a rule, none of a run that is not drawn', async () => {
  const { client, to } = await start({ maxCases: 2 });
  for (const amount of [1, 2, 3]) await client.run({ ruleId: 1, data: { amount } });
  await client.close();
  expect((await recordedIn(to)).document.cases).toHaveLength(2);
  const none = files.pathOf('none');
  const other = await files.start({ leaves: { 'shop.Pay': Pay }, record: { sample: 0, to: none } });
  await other.run({ ruleId: 1, data: { amount: 1 } });
  await other.close();
  expect(await readdir(none)).toEqual([]);
});

test('options of it that cannot be used are named', async () => {
  await expect(start({ sample: 2 })).rejects.toThrow('record.sample must be from 0 to 1, not 2');
  const misspelt = { sample: 1, maks: ['card'] };
  await expect(start(misspelt)).rejects.toThrow('there is no option record.maks; did you mean mask?');
});
