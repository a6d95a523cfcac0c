import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEventStream } from '../support/event-stream.ts';
import { type Answer, type Call, httpCall } from '../support/http-call.ts';
import { answers, createResponder, type Responder, staysSilent } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const KEY = 'a-key-of-the-console';
const EXECUTE = '/rule-server/mock/execute';
const BODY = '{"app":7,"ruleId":1}';

describe('who may do what', () => {
  let service: Service;
  let client: Responder;
  let cookie: string;
  beforeAll(async () => {
    service = await startService({
      apis: 2,
      leavesFiles: true,
      settings: { API_KEYS: `console:${KEY},other:another-key-of-16` },
    });
    client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: answers() });
    cookie = String((await signIn(KEY)).headers['set-cookie']?.[0]?.split(';')[0]);
  });
  afterAll(async () => {
    await client?.stop();
    await service?.stop();
  });

  const signIn = (key: unknown, headers: Record<string, string> = {}) =>
    service.call('/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ key }),
    });
  const execute = (headers: Record<string, string>, call: Call = {}): Promise<Answer> =>
    service.call(EXECUTE, {
      method: 'POST',
      body: BODY,
      headers: { 'content-type': 'application/json', ...headers },
      ...call,
    });

  describe('a session', () => {
    it('is a cookie that scripts cannot read and other sites cannot send', async () => {
      const answer = await signIn(KEY);
      expect([answer.status, answer.text]).toEqual([204, '']);
      const [header = ''] = answer.headers['set-cookie'] ?? [];
      expect(header).toMatch(/^rule-server-session=[^;]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
      expect(header).not.toContain(KEY);
      const behindTls = await signIn(KEY, { 'x-forwarded-proto': 'https' });
      expect(behindTls.headers['set-cookie']?.[0]).toMatch(/^__Host-rule-server-session=[^;]+;.* Path=\/;.*; Secure/);
    });

    it('is kept to this host and TLS however many proxies there are, and no other cookie counts there', async () => {
      const tls = { 'x-forwarded-proto': 'https,http' };
      const [header = ''] = (await signIn(KEY, tls)).headers['set-cookie'] ?? [];
      expect(header).toMatch(/^__Host-rule-server-session=[^;]+;.*; Secure/);
      const session = header.split(';')[0] ?? '';
      const statusWith = async (sent: string) =>
        (await service.call('/docs', { headers: { ...tls, cookie: sent } })).status;
      expect(await statusWith(session)).toBe(200);
      expect(await statusWith(session.replace('__Host-', ''))).toBe(401); // a neighbour's page can set that one
    });

    it('changes nothing for the same name without TLS: whoever sits on the line can write such a page', async () => {
      const tls = { 'x-forwarded-proto': 'https' };
      const own = String((await signIn(KEY, tls)).headers['set-cookie']?.[0]?.split(';')[0]);
      const over = service.url.replace('http:', 'https:');
      expect((await execute({ ...tls, cookie: own, origin: over })).status).toBe(200);
      expect((await execute({ ...tls, cookie: own, origin: service.url })).status).toBe(403);
      expect((await execute({ cookie, origin: over })).status).toBe(403);
    });

    it('does not tell the key to who has the cookie and tries keys against it', async () => {
      const [first, second] = await Promise.all([signIn(KEY), signIn(KEY)]);
      const tokens = [first, second].map(
        ({ headers }) => /=([^;]+);/.exec(headers['set-cookie']?.[0] ?? '')?.[1] ?? '',
      );
      expect(tokens[0]).toMatch(/^[\w-]{43}$/);
      expect(tokens[0]).not.toBe(tokens[1]);
    });

    it('is only given for a key that is known', async () => {
      for (const key of ['wrong', '', null, 5]) {
        const answer = await signIn(key);
        expect([400, 401]).toContain(answer.status);
        expect(answer.headers['set-cookie']).toBeUndefined();
      }
      expect((await service.call('/session', { method: 'POST', body: 'x'.repeat(20_000) })).status).toBe(400);
      const latin1 = Buffer.from('{"key":"\xf6"}', 'latin1');
      expect((await service.call('/session', { method: 'POST', body: latin1 })).json.errors).toMatchObject([
        { field: 'body', message: 'is not valid UTF-8: byte 9 of line 1 is 0xf6' },
      ]);
    });

    it('reads everything, event streams included', async () => {
      const { json } = await execute({ authorization: `Bearer ${KEY}`, prefer: 'respond-async' });
      const events = await openEventStream(`${service.url}/rule-server/mock/executions/${json.mockId}/events`, {
        headers: { cookie },
      });
      await events.ended;
      expect(events.events.at(-1)?.data.state).toBe('succeeded');
      for (const path of ['/docs', '/openapi.json', '/metrics', '/rule-server/mock/apps'])
        expect((await service.call(path, { headers: { cookie } })).status, path).toBe(200);
    });

    it('runs rules from our own page, under the name of its key', async () => {
      const { status, json } = await execute({ cookie, origin: service.url });
      expect(status).toBe(200);
      const { json: execution } = await service.call(`/rule-server/mock/executions/${json.mockId}`, {
        headers: { cookie },
      });
      expect(execution.keyName).toBe('console');
      expect((await execute({ cookie, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    });

    it.each([
      ['a page elsewhere', { origin: 'https://elsewhere.example' }],
      ['a page on another port', { origin: 'http://127.0.0.1:1' }],
      ['a page without an origin', { origin: 'null' }],
      ['a link from elsewhere', { 'sec-fetch-site': 'cross-site' }],
      ['who does not say where it comes from', {}],
    ])('changes nothing for %s', async (_who, headers) => {
      const before = client.found.length;
      const answer = await execute({ cookie, ...headers });
      expect(answer.status).toBe(403);
      expect(answer.json).toMatchObject({ code: 'foreign-page', mayHaveRun: false });
      const one = `/rule-server/mock/executions/3f8d8a0e-0000-4000-8000-000000000000`;
      expect((await service.call(one, { method: 'DELETE', headers: { cookie, ...headers } })).status).toBe(403);
      expect(client.found).toHaveLength(before);
    });

    it('is known to every instance', async () => {
      const { status } = await service.call('/rule-server/mock/apps', { headers: { cookie } });
      expect(status).toBe(200);
      const other = service.urls[1] ?? '';
      expect((await httpCall(`${other}/rule-server/mock/apps`, { headers: { cookie } })).status).toBe(200);
    });

    it('ends at sign-out on every instance, also for who has a copy of the cookie', async () => {
      const own = String((await signIn(KEY)).headers['set-cookie']?.[0]?.split(';')[0]);
      const statuses = () =>
        Promise.all(
          service.urls.map(async (url) => (await httpCall(`${url}/docs`, { headers: { cookie: own } })).status),
        );
      expect(await statuses()).toEqual([200, 200]);
      await service.call('/session', { method: 'DELETE', headers: { cookie: own, origin: service.url } });
      expect(await statuses()).toEqual([401, 401]);
    });

    it('ends the event streams that were opened with it, on every instance', async () => {
      const own = String((await signIn(KEY)).headers['set-cookie']?.[0]?.split(';')[0]);
      const silent = await createResponder({ sharedDir: service.sharedDir, app: 8, does: staysSilent });
      await using _ = silent;
      const call = {
        headers: { authorization: `Bearer ${KEY}`, prefer: 'respond-async' },
        body: '{"app":8,"ruleId":1}',
      };
      const { mockId } = (await service.call(EXECUTE, { method: 'POST', ...call })).json;
      const events = `/rule-server/mock/executions/${mockId}/events`;
      const streamOf = (headers: Record<string, string>, url = service.url) =>
        openEventStream(`${url}${events}`, { headers });
      const theirs = await Promise.all(service.urls.map((url) => streamOf({ cookie: own }, url)));
      const others = await streamOf({ authorization: `Bearer ${KEY}` });
      await service.call('/session', { method: 'DELETE', headers: { cookie: own, origin: service.url } });
      const out = setTimeout(3500, 'still open');
      expect(await Promise.race([Promise.all(theirs.map(({ ended }) => ended)), out])).not.toBe('still open');
      expect(await Promise.race([others.ended, setTimeout(100, 'still open')])).toBe('still open');
      others.close();
    });

    it('leaves no input and no answer of a rule in the cache of a browser or a proxy', async () => {
      const { json } = await execute({ authorization: `Bearer ${KEY}` });
      const one = `/rule-server/mock/executions/${json.mockId}`;
      for (const path of [one, '/rule-server/mock/executions', '/docs', '/metrics', '/nowhere'])
        expect((await service.call(path, { headers: { cookie } })).headers['cache-control'], path).toBe('no-store');
      expect((await execute({ authorization: `Bearer ${KEY}` })).headers['cache-control']).toBe('no-store');
      expect((await service.call(one)).headers['cache-control']).toBe('no-store'); // a 401 as well
      // What rules there are is no customer's data: the browser keeps it, and asks each time whether it is still so.
      const apps = await service.call('/rule-server/mock/apps', { headers: { cookie } });
      expect(apps.headers['cache-control']).toBe('private, no-cache');
    });

    it('ends at sign-out', async () => {
      const answer = await service.call('/session', { method: 'DELETE', headers: { cookie, origin: service.url } });
      expect(answer.status).toBe(204);
      expect(answer.headers['set-cookie']?.[0]).toMatch(
        /^rule-server-session=; Max-Age=0; Path=\/; HttpOnly; SameSite=Strict$/,
      );
      const foreign = { cookie, origin: 'https://elsewhere.example' };
      expect((await service.call('/session', { method: 'DELETE', headers: foreign })).status).toBe(403);
      expect((await signIn(KEY, { origin: 'https://elsewhere.example' })).status).toBe(403);
    });

    it('that is none is a 401 that says what to do', async () => {
      const code = async (headers: Record<string, string>) => (await service.call('/docs', { headers })).json.code;
      expect(await code({})).toBe('key-missing');
      expect(await code({ authorization: 'Bearer nonsense' })).toBe('key-unknown');
      expect(await code({ authorization: 'Basic eDp5' })).toBe('key-malformed');
      expect(await code({ cookie: 'rule-server-session=a.1.b' })).toBe('session-ended');
    });
  });

  it('a key in the header is not asked where it comes from: no browser sends it by itself', async () => {
    const headers = { authorization: `Bearer ${KEY}`, origin: 'https://elsewhere.example', cookie };
    expect((await execute(headers)).status).toBe(200);
  });

  it('every answer keeps browsers from guessing, framing and leaking', async () => {
    for (const path of ['/', '/docs', '/healthz', EXECUTE]) {
      const { headers } = await service.call(path, { headers: { cookie } });
      expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['strict-transport-security']).toBeUndefined();
      expect(headers['x-powered-by']).toBeUndefined();
    }
  });
});

describe('the name in the Host header', () => {
  const statusFor = async (service: Service, host: string) =>
    (await service.call('/rule-server/mock/apps', { headers: { host } })).status;

  it('is a loopback name where only this machine is listened to', async () => {
    await using service = await startService();
    for (const host of [
      'localhost',
      'localhost:8080',
      'LOCALHOST',
      '127.0.0.1:1',
      '127.1.2.3',
      '[::1]:8080',
      'x.localhost',
      '',
    ])
      expect(await statusFor(service, host), host).toBe(200);
    for (const host of [
      'elsewhere.example',
      'elsewhere.example:8080',
      '10.0.0.1',
      'localhost.elsewhere.example',
      '127.0.0.1.x',
    ])
      expect(await statusFor(service, host), host).toBe(403);
    expect((await service.call('/healthz', { headers: { host: 'probe.example' } })).status).toBe(200);
    const { json } = await service.call('/', { headers: { host: 'elsewhere.example:80' } });
    expect(json.error).toContain('does not go by the name elsewhere.example:');
  });

  it('is an address or a name nobody can register where the network is listened to without keys', async () => {
    await using service = await startService({ settings: { HOST: '0.0.0.0' } });
    for (const host of [
      '10.1.2.3:8080',
      '[2001:db8::1]:8080',
      'gateway',
      'rules.internal',
      'nas.local:80',
      '127.0.0.1',
      'a.svc.cluster.local',
    ])
      expect(await statusFor(service, host), host).toBe(200);
    for (const host of ['elsewhere.example', '10.0.0.1.elsewhere.example', 'internal.elsewhere.example'])
      expect(await statusFor(service, host), host).toBe(403);
  });

  it('is any where there are keys, and what CORS_ORIGINS names everywhere', async () => {
    await using keyed = await startService({ workers: 0, settings: { HOST: '0.0.0.0', API_KEYS: `a:${KEY}` } });
    const headers = { host: 'rules.example.com', authorization: `Bearer ${KEY}` };
    const docs = await keyed.call('/docs', { headers: { ...headers, 'x-forwarded-proto': 'https' } });
    expect(docs.status).toBe(200);
    expect(docs.text).toContain('https://rules.example.com/rule-server/mock/execute');
    expect(docs.text).toContain('authorization: Bearer $RULE_SERVER_KEY');
    await using named = await startService({ workers: 0, settings: { CORS_ORIGINS: 'https://rules.example.com' } });
    expect((await named.call('/docs', { headers: { host: 'rules.example.com' } })).status).toBe(200);
    expect((await named.call('/docs', { headers: { host: 'other.example.com' } })).status).toBe(403);
  });
});

describe('pages of other origins', () => {
  const origin = 'https://console.example';
  const preflight = (service: Service, from: string) =>
    service.call(EXECUTE, {
      method: 'OPTIONS',
      headers: {
        origin: from,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    });

  it('are told nothing unless CORS_ORIGINS names them', async () => {
    await using service = await startService({ workers: 0 });
    const answer = await preflight(service, origin);
    expect(answer.status).toBe(405);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('may call with a key of their own when it does', async () => {
    const settings = { CORS_ORIGINS: `${origin}, http://localhost:5173`, API_KEYS: `a:${KEY}` };
    await using service = await startService({ workers: 0, settings });
    const { status, headers } = await preflight(service, origin);
    expect(status).toBe(204);
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(headers['access-control-allow-headers']).toContain('authorization');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
    const answer = await service.call('/docs', { headers: { origin, authorization: `Bearer ${KEY}` } });
    expect(answer.headers['access-control-allow-origin']).toBe(origin);
    expect(answer.headers['access-control-expose-headers']).toContain('location');
    const foreign = await preflight(service, 'https://elsewhere.example');
    expect(foreign.headers['access-control-allow-origin']).toBeUndefined();
    const refused = await service.call('/docs', { headers: { origin } });
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, origin]);
  });
});
