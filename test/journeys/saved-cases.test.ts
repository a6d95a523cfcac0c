import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { createCaseFiles } from '../../src/worker/cases/case-files.ts';
import { createFileClock } from '../../src/worker/files/shared-directory.ts';
import type { Call } from '../support/http-call.ts';
import { answers, createResponder } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const RULE = '/rule-server/mock/cases?app=1&ruleId=9007199254740993';
const FILE = '1/rule-9007199254740993.yaml';
const TEXT = `# kept   as it is
app: 1
ruleId: 9007199254740993
cases:
  - name: one          # the first
    input: { uid: 9007199254740993, cost: 1e400 }

  - name: two
    input: {"cost":   120.10}
    expect: { outcome: TRUE }
`;
const etagOf = (text: string) => `"${createHash('sha256').update(text).digest('hex')}"`;
const folderOf = (service: Service) => join(service.sharedDir, '.rule-server', 'cases');

describe('saved cases', () => {
  const put = (service: Service, text: string, headers: Record<string, string>, more: Call & { path?: string } = {}) =>
    service.call(more.path ?? RULE, { method: 'PUT', body: text, headers, ...more });
  const first = { 'if-none-match': '*' };

  it('come back as they were saved, byte for byte, and lie where an operator finds them', async () => {
    await using service = await startService();
    expect((await service.call(RULE)).status).toBe(404);
    const none = await service.call(RULE, { headers: { accept: 'application/json' } });
    expect([none.status, none.json]).toEqual([200, { etag: null, ignore: [], cases: [] }]);
    const saved = await put(service, TEXT, first);
    expect([saved.status, saved.json]).toEqual([200, { etag: etagOf(TEXT), cases: 2 }]);
    const read = await service.call(RULE);
    expect([read.text, read.headers.etag, read.headers['content-type']]).toEqual([
      TEXT,
      etagOf(TEXT),
      'application/yaml',
    ]);
    expect((await service.call(RULE, { headers: { 'if-none-match': etagOf(TEXT) } })).status).toBe(304);
    expect(await readFile(join(folderOf(service), FILE), 'utf8')).toBe(TEXT);
    expect(await readdir(join(folderOf(service), '1'))).toEqual(['rule-9007199254740993.yaml']);
    const list = await service.call('/rule-server/mock/cases?app=1');
    expect(list.text).toContain('"ruleId":9007199254740993,"confId":null');
    const removed = await service.call(RULE, { method: 'DELETE', headers: { 'if-match': etagOf(TEXT) } });
    expect(removed.status).toBe(204);
    expect((await service.call(RULE)).status).toBe(404);
    expect((await service.call('/rule-server/mock/cases?app=1')).json.items).toEqual([]);
    expect((await put(service, TEXT, first)).status).toBe(200);
  });

  it('come as JSON to a page that asks for it, with defaults filled in and every digit', async () => {
    await using service = await startService();
    const text = `${TEXT}defaults: { input: { city: Berlin } }\n`;
    expect((await put(service, text, first)).status).toBe(200);
    const read = await service.call(RULE, { headers: { accept: 'application/json' } });
    expect(read.headers['content-type']).toMatch(/^application\/json/);
    expect(read.json).toMatchObject({
      etag: etagOf(text),
      cases: [
        { name: 'one', line: 5 },
        { name: 'two', line: 8 },
      ],
    });
    expect(read.text).toContain('"the service":{"city":"Berlin","uid":9007199254740993,"cost":1e400},"ts":null');
    expect(read.text).toContain('"expect":{"outcome":"TRUE"}');
    expect((await service.call(RULE, { headers: { accept: '*/*' } })).text).toBe(text);
    const unusable = `${TEXT}more: 1\n`;
    await writeFile(join(folderOf(service), FILE), unusable);
    expect((await service.call(RULE, { headers: { accept: 'application/json' } })).status).toBe(422);
  });

  it('change only for a caller who has read them: 428 without a precondition, 412 with what differs', async () => {
    await using service = await startService();
    expect((await put(service, TEXT, {})).status).toBe(428);
    expect((await put(service, TEXT, { 'if-match': etagOf('another') })).json).toMatchObject({
      status: 412,
      etag: null,
    });
    await put(service, TEXT, first);
    const mine = TEXT.replace('cost: 1e400', 'cost: 1e401');
    const theirs = TEXT.replace('120.10', '99').replace('- name: one ', '- name: uno ');
    expect((await put(service, theirs, { 'if-match': etagOf(TEXT) })).status).toBe(200);
    const late = await put(service, mine, { 'if-match': etagOf(TEXT) });
    expect([late.status, late.headers.etag, late.json]).toEqual([
      412,
      etagOf(theirs),
      expect.objectContaining({ etag: etagOf(theirs), cases: ['uno', 'two', 'one'] }),
    ]);
    expect((await put(service, mine, first)).status).toBe(412);
    expect((await service.call(RULE)).text).toBe(theirs);
    // A repeat of what was saved already succeeds: the answer to the first one was lost.
    expect((await put(service, theirs, { 'if-match': etagOf(TEXT) })).status).toBe(200);
    expect((await put(service, mine, { 'if-match': `W/${etagOf(theirs)}` })).status).toBe(200);
    expect((await put(service, mine, { 'if-match': '*' })).json.errors[0].field).toBe('If-Match');
  });

  it('of one name are put in or taken out, and every other byte stays', async () => {
    await using service = await startService();
    await put(service, TEXT, first);
    const post = async (body: string, etag: string | null) =>
      service.call(RULE, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...(etag === null ? first : { 'if-match': etag }) },
      });
    const two = await post('{"upsert":{"name":"two","input":{"cost":0.10}}}', etagOf(TEXT));
    expect(two.status).toBe(200);
    const changed = TEXT.replace(/- name: two[\s\S]*$/, '- {"name":"two","input":{"cost":0.10}}\n');
    expect((await service.call(RULE)).text).toBe(changed);
    expect(two.json.etag).toBe(etagOf(changed));
    const late = await post('{"remove":"two"}', etagOf(TEXT));
    expect([late.status, late.json.cases]).toEqual([412, ['two']]);
    await post('{"remove":"one","upsert":{"name":"uno","input":{"uid":9007199254740993}}}', etagOf(changed));
    const { text } = await service.call(RULE);
    expect(text).toBe(
      '# kept   as it is\napp: 1\nruleId: 9007199254740993\ncases:\n\n' +
        '  - {"name":"two","input":{"cost":0.10}}\n  - {"name":"uno","input":{"uid":9007199254740993}}\n',
    );
    expect((await post('{"upsert":{"name":"x","inptu":{}}}', etagOf(text))).json.errors[0]).toMatchObject({
      field: 'upsert.inptu',
      message: expect.stringContaining('did you mean "input"'),
    });
    expect((await post('{"remove":"nobody"}', etagOf(text))).json.errors[0].message).toContain('no case is called');
    expect((await post('{}', etagOf(text))).status).toBe(400);
    const node = '/rule-server/mock/cases?app=1&confId=4';
    const created = await service.call(node, { method: 'POST', body: '{"upsert":{"name":"a"}}', headers: first });
    expect(created.status).toBe(200);
    expect((await service.call(node)).text).toBe('app: 1\nconfId: 4\ncases:\n  - {"name":"a"}\n');
  });

  it('are refused with the line when they cannot be run, or are about something else', async () => {
    await using service = await startService({ workers: 1 });
    const refused = async (text: string) => {
      const answer = await put(service, text, first);
      return [
        answer.status,
        ...(answer.json.errors ?? []).map(
          (each: { field: string; message: string }) => `${each.field} ${each.message}`,
        ),
      ].join('\n');
    };
    expect(await refused('cases:\n  - name: a\n    input: { a: 012 }\n')).toMatch(
      /^400\ncases\[0\]\.input\.a .*\(line 3\)/,
    );
    expect(await refused('app: 2\ncases: []\n')).toContain('app is 2 in the document and 1 in the request');
    expect(await refused('\u0000')).toMatch(/^400/);
    const bomb = `a: &a [${'x,'.repeat(9)}x]\n${'bcdefghi'
      .split('')
      .map((name, n) => `${name}: &${name} [${`*${'abcdefgh'[n]},`.repeat(9)}x]`)
      .join('\n')}\ncases: *i\n`;
    expect(await refused(bomb)).toContain('is an alias');
    expect(await refused(`cases: []\n#${'x'.repeat(2 ** 20)}`)).toMatch(/^413/);
    const both = await put(service, TEXT, first, { path: `${RULE}&confId=4` });
    expect(both.json.errors[0].field).toBe('confId');
    expect((await put(service, TEXT, first, { path: '/rule-server/mock/cases?app=1' })).status).toBe(400);
    expect((await service.call(RULE)).status).toBe(404);
  });

  it('of a large document are read beside calls, not in front of them', async () => {
    await using service = await startService();
    const many = Array.from(
      { length: 4000 },
      (_, n) => `  - name: case ${n}\n    input: { uid: ${n}, text: "${'x'.repeat(200)}" }\n`,
    );
    const saving = put(service, `cases:\n${many.join('')}`, first);
    const began = performance.now();
    let slowest = 0;
    let over = false;
    saving.finally(() => {
      over = true;
    });
    while (!over) {
      const at = performance.now();
      await service.call('/healthz');
      slowest = Math.max(slowest, performance.now() - at);
      await delay(20);
    }
    expect((await saving).json.cases).toBe(4000);
    expect(slowest).toBeLessThan((performance.now() - began) / 2); // not held up for all the time that reading it takes
  });

  it('are never followed through a link', async () => {
    await using service = await startService();
    const outside = join(service.sharedDir, 'outside.yaml');
    await writeFile(outside, TEXT);
    await mkdir(join(folderOf(service), '1'), { recursive: true });
    await symlink(outside, join(folderOf(service), FILE));
    const read = await service.call(RULE);
    expect([read.status, read.json.error]).toEqual([422, expect.stringContaining('is a link')]);
    for (const headers of [first, { 'if-match': etagOf(TEXT) }])
      expect((await put(service, TEXT.replace('one', 'uno'), headers)).status).toBe(422);
    expect(await readFile(outside, 'utf8')).toBe(TEXT);
    await rm(join(folderOf(service), '1'), { recursive: true });
    await mkdir(join(service.sharedDir, 'elsewhere'));
    await symlink(join(service.sharedDir, 'elsewhere'), join(folderOf(service), '1'));
    await vi.waitFor(async () => expect((await put(service, TEXT, first)).status).toBe(503), { timeout: 60_000 });
    expect(await readdir(join(service.sharedDir, 'elsewhere'))).toEqual([]);
  });

  it('of many people saving at once are those of one of them, and every other one hears of it', async () => {
    await using service = await startService({ workers: 2, apis: 2 });
    await put(service, TEXT, first);
    for (let round = 0; round < 5; round++) {
      const before = await service.call(RULE);
      const texts = Array.from({ length: 8 }, (_, n) => `cases:\n  - name: ${round} of ${n}\n`);
      const saved = await Promise.all(
        texts.map((text) => put(service, text, { 'if-match': String(before.headers.etag) })),
      );
      expect(saved.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(412)]);
      const winner = saved.findIndex(({ status }) => status === 200);
      expect((await service.call(RULE)).text).toBe(texts[winner]);
    }
  });

  it('can be saved again after a worker was killed with the lock in its hands', async () => {
    await using service = await startService();
    await put(service, TEXT, first);
    const lock = join(folderOf(service), `${FILE}.lock`);
    await writeFile(join(folderOf(service), '1/.left.tmp'), 'half a docu');
    await writeFile(lock, '.left.tmp');
    const old = new Date(Date.now() - 60_000);
    await utimes(lock, old, old);
    expect((await put(service, TEXT.replace('one', 'uno'), { 'if-match': etagOf(TEXT) })).status).toBe(200);
    expect(await readdir(join(folderOf(service), '1'))).toEqual(['rule-9007199254740993.yaml']);
    // One that is fresh is waited for, whatever this machine's clock says of it.
    await writeFile(lock, '.left.tmp');
    const at = Date.now();
    expect((await put(service, TEXT, { 'if-match': etagOf(TEXT.replace('one', 'uno')) })).status).toBe(200);
    expect(Date.now() - at).toBeGreaterThan(2500);
  });

  it('are run as a batch, which records which ones', async () => {
    await using service = await startService();
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers({}) });
    const run = async (body: object) =>
      service.call('/rule-server/mock/batches', { method: 'POST', body: JSON.stringify({ app: 1, ...body }) });
    expect((await run({ ruleId: 7, saved: true })).status).toBe(404);
    expect((await run({ ruleId: 7, confId: 8, saved: true })).json.errors[0].field).toBe('confId');
    expect((await run({ ruleId: 7, saved: true, cases: [{}] })).status).toBe(400);
    const text = 'cases:\n  - name: one\n    input: { uid: 9007199254740993 }\n  - name: two\n    skip: true\n';
    const path = '/rule-server/mock/cases?app=1&ruleId=7';
    await put(service, text, first, { path });
    const answer = await run({ ruleId: 7, saved: true, ts: 5 });
    expect([answer.status, answer.json.etag, answer.json.cases]).toEqual([202, etagOf(text), 2]);
    await vi.waitFor(
      async () =>
        expect((await service.call(String(answer.headers.location))).json).toMatchObject({
          state: 'finished',
          counts: { ran: 1, skipped: 1 },
        }),
      { timeout: 60_000 },
    );
    expect(client.found[0]?.text).toContain('9007199254740993');
    expect(client.found[0]?.text).toContain('"ts":5');
    const again = await run({ ruleId: 7, from: answer.json.batchId, verdict: ['ran'] });
    expect([again.status, again.json.cases, again.json.etag]).toEqual([202, 1, etagOf(text)]);
    await vi.waitFor(async () => expect(client.found).toHaveLength(2), { timeout: 60_000 });
    await vi.waitFor(
      async () => expect((await service.call(String(again.headers.location))).json.state).toBe('finished'),
      { timeout: 60_000 },
    );
  });

  it('need the permission to keep cases, for their app', async () => {
    const key = '0123456789abcdef';
    const digest = createHash('sha256').update(key).digest('hex');
    await using home = await startService({ workers: 0 });
    const file = join(home.sharedDir, 'keys.yaml');
    await writeFile(file, `keys:\n  - name: reader\n    sha256: ${digest}\n    may: [read, run, cancel]\n`);
    await using service = await startService({ workers: 0, settings: { API_KEYS_FILE: file } });
    const headers = { ...first, authorization: `Bearer ${key}` };
    for (const method of ['PUT', 'POST', 'DELETE']) {
      const answer = await service.call(RULE, { method, headers });
      expect([answer.status, answer.json.error]).toEqual([403, expect.stringContaining('"cases"')]);
    }
  });
});

describe('a worker that slept with the lock', () => {
  it('changes nothing when it wakes up after another one has taken over', async () => {
    await using service = await startService();
    const cases = { app: 1, ruleId: '5', confId: null };
    const path = '/rule-server/mock/cases?app=1&ruleId=5';
    const wakeUp = Promise.withResolvers<void>();
    const asleep = Promise.withResolvers<void>();
    const clock = createFileClock(service.sharedDir);
    const sleeper = createCaseFiles({
      sharedDir: service.sharedDir,
      clock,
      beforeRename: async () => {
        asleep.resolve();
        await wakeUp.promise;
      },
    });
    const slow = sleeper.save(cases, { expected: null, text: 'cases: []\n# slow' });
    await asleep.promise;
    const quick = await put(service, 'cases: []\n# quick', path);
    expect(quick.status).toBe(200);
    wakeUp.resolve();
    expect(await slow).toEqual({ kind: 'busy' });
    expect((await service.call(path)).text).toBe('cases: []\n# quick');
    expect((await lstat(join(folderOf(service), '1'))).isDirectory()).toBe(true);
    expect(await readdir(join(folderOf(service), '1'))).toEqual(['rule-5.yaml']);
  });

  const put = (service: Service, text: string, path: string) =>
    service.call(path, { method: 'PUT', body: text, headers: { 'if-none-match': '*' } });
});
