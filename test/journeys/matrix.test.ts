import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { digestOf, permissions } from '../../src/shared/runtime/access/caller.ts';
import { echoes } from '../support/echoes.ts';
import { type Answer, httpCall } from '../support/http-call.ts';
import { createResponder, type Responder } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

/** Everything of app 9 has one of these in its text, and nothing else has. */
const MARKER = 'only-of-nine';
const RULE = 90_909;
/** The input of an execution that is open all the time. */
const STAYS_OPEN = `open ${MARKER}`;
const answer = echoes({ more: { answer: `answer ${MARKER}` } });
const USER_HEADER = 'x-forwarded-email';
const PROXY = '127.0.0.2';
const ELSEWHERE = 'https://elsewhere.example';
const NOBODYS_ID = '3f8d8a0e-0000-4000-8000-000000000000';
/** Harmless: it is done as often as one asks, or it is too late for it, or it needs a condition that is not given. */
const LET_IN = [200, 202, 204, 409, 428];

type Rights = { may: readonly string[]; apps: readonly number[] | null };
const ALL: Rights = { may: permissions, apps: null };
const RIGHTS: Record<string, Rights> = {
  everything: ALL,
  ...Object.fromEntries(permissions.map((may) => [`only-${may}`, { may: [may], apps: null }])),
  nothing: { may: [], apps: null },
  nine: { may: permissions, apps: [9] },
  seven: { may: permissions, apps: [7] },
  'seven-reads': { may: ['read'], apps: [7] },
  'no-app': { may: permissions, apps: [] },
};
const PERSONS: Record<string, Rights> = {
  'ada@example.com': ALL,
  'bob@example.com': { may: ['read'], apps: null },
  'eve@example.com': { may: permissions, apps: [7] },
};
const keyOf = (name: string) => `the-key-of-${name}-in-this-test`;
const sha256 = (name: string) => digestOf(keyOf(name)).toString('hex');
const entry = (name: string, { may, apps }: Rights) => ({ name, may, ...(apps && { apps }) });
const KEYS = [
  ...Object.entries(RIGHTS).map(([name, rights]) => ({ ...entry(name, rights), sha256: sha256(name) })),
  { ...entry('over', ALL), sha256: sha256('over'), expires: '2020-01-01' },
  ...Object.entries(PERSONS).map(([name, rights]) => entry(name, rights)),
];

/** Who asks, and the page that makes its browser ask. `rights`: null for who is not known. */
type Caller = {
  name: string;
  rights: Rights | null;
  headers: Record<string, string>;
  page?: 'own' | 'foreign' | 'unsaid';
  agent?: Agent;
};

/** One harmless request of an operation. `of`: how it says that it is about app 9, if it does. */
type Request = {
  title: string;
  method: string;
  path: string;
  needs: string | undefined;
  isOpen: boolean;
  of: 'app' | 'id' | null;
  sent: { body?: string; headers: Record<string, string> };
};

describe('every operation, asked by everybody', () => {
  let folder: string;
  let service: Service;
  let client: Responder;
  let ids: Record<string, string>;
  let callers: Caller[];
  let requests: Request[];
  const openEnds = Promise.withResolvers<void>();
  const proxy = new Agent({ localAddress: PROXY, keepAlive: true });
  const direct = new Agent({ keepAlive: true });
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rule-server-keys-'));
    await writeFile(join(folder, 'keys.yaml'), JSON.stringify({ keys: KEYS })); // JSON is YAML
    const access = {
      ...{ API_KEYS_FILE: join(folder, 'keys.yaml'), TRUSTED_USER_HEADER: USER_HEADER, TRUSTED_PROXIES: PROXY },
      ...{ RESULT_TIMEOUT_MS: 60_000, KEY_CALLS_PER_SECOND: 100_000, KEY_BATCHES: 1000, MAX_BATCHES: 1000 },
    };
    service = await startService({ settings: access, logsErrors: true });
    await writeRule(service.sharedDir);
    client = await createResponder({
      ...{ sharedDir: service.sharedDir, app: 9, address: `client_${MARKER}` },
      does: (request, self) =>
        (request.text.includes(STAYS_OPEN) ? echoes({ once: openEnds.promise }) : answer)(request, self),
    });
    ids = await seed(service);
    callers = await everybody(service.url, proxy);
    requests = await readRequests(service);
  });
  afterAll(async () => {
    for (const agent of [proxy, direct]) agent.destroy();
    openEnds.resolve();
    await client?.stop();
    await service?.stop();
  });

  const ask = ({ method, path, sent }: Request, { headers, agent = direct }: Caller, of = ids) =>
    service.call(
      path.replace(/\{(\w+)\}/g, (_, name) => of[name] ?? ''),
      { ...sent, method, headers: { ...sent.headers, ...headers }, agent },
    );
  const named = (name: string): Caller => {
    const found = callers.find((caller) => caller.name === name);
    if (!found) throw new Error(`nobody is called ${name}`);
    return found;
  };

  it('gets what its permission and its apps say, and nothing of another app', async () => {
    const wrong: string[] = [];
    const kinds = new Set<number>();
    for (const request of requests) {
      const letIn = (await ask(request, named('everything'))).status;
      if (!LET_IN.includes(letIn)) wrong.push(`${request.title}, everything: ${letIn}`);
      const askAs = async (caller: Caller) => {
        const answer = await ask(request, caller);
        const expected = refusalOf(request, caller) ?? letIn;
        kinds.add(expected);
        const title = `${request.title}, ${caller.name}`;
        if (answer.status !== expected) wrong.push(`${title}: ${answer.status}, not ${expected}: ${answer.text}`);
        if (!maySeeNine(request, caller) && tellsOfNine(answer)) wrong.push(`${title} tells: ${answer.text}`);
      };
      await Promise.all(callers.map(askAs));
    }
    expect(wrong).toEqual([]);
    expect([...kinds].sort()).toEqual([200, 202, 204, 401, 403, 404, 409, 428]);
    expect(requests.length).toBeGreaterThan(36);
    expect(callers.length).toBeGreaterThan(30);
  });

  it('shows app 9 to who may see it: else what others do not get would say nothing', async () => {
    const quiet: string[] = [];
    for (const request of requests.filter(({ needs, of }) => needs === 'read' && of !== null))
      if (!tellsOfNine(await ask(request, named('only-read')))) quiet.push(request.title);
    // No run failed, no rule told which nodes it passed, no client told what its leaves read: here only the status is compared.
    expect(quiet.map((title) => /\/(\w+)(\?|$)/.exec(title)?.[1])).toEqual(['failures', 'coverage', 'schema']);
  });

  it('says the same of what is of another app as of what is not there', async () => {
    const ofNobody = { mockId: NOBODYS_ID, batchId: NOBODYS_ID, n: '1' };
    const told = ({ status, text }: Answer) => [status, text.replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'ID')];
    for (const request of requests.filter(({ of }) => of === 'id')) {
      const [foreign, missing] = [await ask(request, named('seven')), await ask(request, named('seven'), ofNobody)];
      expect([request.title, ...told(foreign)]).toEqual([request.title, ...told(missing)]);
    }
  });
});

/** Keys, sessions and persons, good and bad. */
async function everybody(url: string, proxy: Agent): Promise<Caller[]> {
  const session = async (name: string, page: 'own' | 'foreign' | 'unsaid', origin?: string): Promise<Caller> => ({
    ...{ name: `session of ${name}, ${page} page, ${origin}`, rights: RIGHTS[name] ?? null, page },
    headers: { cookie: await signIn(url, name), ...(origin !== undefined && { origin }) },
  });
  const person = (name: string, page: 'own' | 'foreign' | 'unsaid', origin?: string): Caller => ({
    ...{ name: `${name}, ${page} page, ${origin}`, rights: PERSONS[name] ?? null, page, agent: proxy },
    headers: { [USER_HEADER]: name, ...(origin !== undefined && { origin }) },
  });
  const stranger = (name: string, headers: Record<string, string>): Caller => ({ name, rights: null, headers });
  return [
    ...Object.entries(RIGHTS).map(([name, rights]) => ({ name, rights, headers: bearer(name) })),
    stranger('no key', {}),
    stranger('wrong key', { authorization: 'Bearer a-key-that-nobody-has-here' }),
    stranger('a part of a key', { authorization: bearer('everything').authorization.slice(0, -1) }),
    stranger('expired key', bearer('over')),
    stranger('key as a password', { authorization: `Basic ${btoa(`:${keyOf('everything')}`)}` }),
    stranger('invented session', { cookie: `rule-server-session=${'A'.repeat(43)}`, origin: url }),
    stranger('person past the proxy', { [USER_HEADER]: 'ada@example.com', origin: url }),
    stranger('person who names the proxy', { [USER_HEADER]: 'ada@example.com', 'x-forwarded-for': PROXY, origin: url }),
    ...[await session('everything', 'own', url), await session('everything', 'unsaid')],
    ...[await session('everything', 'foreign', ELSEWHERE), await session('everything', 'foreign', 'null')],
    ...[await session('only-read', 'own', url), await session('nothing', 'own', url)],
    ...[await session('seven', 'own', url), await session('seven', 'foreign', ELSEWHERE)],
    ...[person('ada@example.com', 'own', url), person('ada@example.com', 'unsaid')],
    ...[person('ada@example.com', 'foreign', ELSEWHERE), person('ada@example.com', 'foreign', 'null')],
    ...[person('bob@example.com', 'own', url), person('eve@example.com', 'own', url)],
    person('who-is-not-in-the-file@example.com', 'own', url),
    person('everything', 'own', url), // the name of a key
  ];
}

const TELLS = new RegExp(`${MARKER}|\\b${RULE}\\b`);
const bearer = (name: string) => ({ authorization: `Bearer ${keyOf(name)}` });
const tellsOfNine = ({ text, headers }: Answer) => `${text}${JSON.stringify(headers)}`.match(TELLS) !== null;

/** What a caller gets instead of an answer; null for whoever is let in. */
function refusalOf({ method, path, isOpen, needs, of }: Request, { rights, page }: Caller): number | null {
  const changes = method !== 'GET';
  if (isOpen) return path === '/session' && changes && page === 'foreign' ? 403 : null;
  if (rights === null) return 401;
  if (changes && (page === 'foreign' || page === 'unsaid')) return 403;
  if (needs !== undefined && !rights.may.includes(needs)) return 403;
  if (of === null || isForNine(rights)) return null;
  return of === 'app' ? 403 : 404;
}

const isForNine = ({ apps }: Rights) => apps?.includes(9) ?? true;
const maySeeNine = (request: Request, caller: Caller) =>
  caller.rights !== null && isForNine(caller.rights) && refusalOf(request, caller) === null;

async function signIn(url: string, name: string): Promise<string> {
  const { headers } = await httpCall(`${url}/session`, { method: 'POST', body: JSON.stringify({ key: keyOf(name) }) });
  return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}

/** A rule with one node, both named, released as version 1. */
async function writeRule(sharedDir: string): Promise<void> {
  const files = {
    bases: { id: RULE, app: 9, status: 1, name: `rule ${MARKER}`, confId: 1 },
    confs: { id: 1, app: 9, type: 5, status: 1, name: `node ${MARKER}`, confName: 'com.sample.Score' },
  };
  for (const [kind, text] of Object.entries(files)) {
    await mkdir(join(sharedDir, '9', kind), { recursive: true });
    await writeFile(join(sharedDir, '9', kind, `${text.id}.json`), JSON.stringify(text));
  }
  await writeFile(join(sharedDir, '9', 'version.txt'), '1');
}

const later = { prefer: 'respond-async' };

/** An open execution, one that has ended, a finished batch and a saved case of app 9. */
async function seed(service: Service): Promise<Record<string, string>> {
  const headers = { ...bearer('everything'), 'if-none-match': '*', 'content-type': 'application/json' };
  const ask = (method: string, path: string, body?: object, more: Record<string, string> = {}) =>
    service.call(`/rule-server/mock/${path}`, {
      method,
      headers: { ...headers, ...more },
      ...(body && { body: JSON.stringify(body) }),
    });
  const input = { text: `input ${MARKER}` };
  const open = await ask('POST', 'execute', { app: 9, ruleId: RULE, 'the service': { text: STAYS_OPEN } }, later);
  expect(open.status).toBe(202);
  const { mockId } = (await ask('POST', 'execute', { app: 9, ruleId: RULE, 'the service': input })).json;
  const cases = [{ name: `case ${MARKER}`, 'the service': input, expect: { outcome: 'FALSE' } }];
  const { batchId } = (await ask('POST', 'batches', { app: 9, ruleId: RULE, cases })).json;
  const state = async () => (await ask('GET', `batches/${batchId}`)).json.state;
  await vi.waitFor(async () => expect(await state()).toBe('finished'), 60_000);
  const saved = await ask('POST', `cases?app=9&ruleId=${RULE}`, { upsert: { name: `saved ${MARKER}`, input } });
  expect(saved.status, saved.text).toBe(200);
  return { mockId, batchId, n: '1' };
}

const exampleSchema = z.object({ value: z.json() });
const operationSchema = z.looseObject({
  'x-permission': z.enum(permissions).optional(),
  security: z.array(z.unknown()),
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string(), required: z.boolean() })),
  requestBody: z
    .looseObject({ content: z.record(z.string(), z.looseObject({ examples: z.record(z.string(), exampleSchema) })) })
    .optional(),
});
const documentSchema = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operationSchema)) });

/** A request of each operation in the service's own description. Who signs out does it last. */
async function readRequests(service: Service): Promise<Request[]> {
  const { json } = await service.call('/openapi.json', { headers: bearer('everything') });
  const requests = Object.entries(documentSchema.parse(json).paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => requestsOf(method.toUpperCase(), path, operation)),
  );
  const signsOut = ({ method, path }: Request) => method === 'DELETE' && path === '/session';
  return [...requests.filter((request) => !signsOut(request)), ...requests.filter(signsOut)];
}

/** One, and another one where it is left to the caller whether it names an app. */
function requestsOf(method: string, path: string, operation: z.infer<typeof operationSchema>): Request[] {
  const { 'x-permission': needs, security, parameters, requestBody } = operation;
  const [content] = Object.entries(requestBody?.content ?? {});
  const [example] = Object.values(content?.[1].examples ?? {});
  const body = example && ofNine(example.value);
  const sent = { headers: content ? { 'content-type': content[0] } : {}, ...(body !== undefined && { body }) };
  const common = { method, needs, isOpen: security.length === 0, sent };
  const inQuery = (name: string) => parameters.find((parameter) => parameter.in === 'query' && parameter.name === name);
  const app = inQuery('app');
  const of = app || body?.startsWith('{"app":9,') ? 'app' : path.includes('{') ? 'id' : null;
  const more = `${inQuery('ruleId') ? `&ruleId=${RULE}` : ''}${inQuery('version')?.required ? '&version=1' : ''}`;
  const full = app ? `${path}?app=9${more}` : path;
  const request: Request = { ...common, of, path: full, title: `${method} ${full}` };
  return app && !app.required ? [request, { ...common, of: null, path, title: `${method} ${path}` }] : [request];
}

/** An example, about app 9 and for whichever client there is. Who signs in does it with a key that is there. */
function ofNine(example: z.infer<typeof exampleSchema>['value']): string {
  if (typeof example !== 'object')
    return String(example).replaceAll('9001', '9').replace('ruleId: 1', `ruleId: ${RULE}`);
  const { app, ruleId: _id, key, targets: _, ...members } = z.record(z.string(), z.json()).parse(example);
  return JSON.stringify({
    ...(app !== undefined && { app: 9, ruleId: RULE }),
    ...(key !== undefined && { key: keyOf('only-read') }),
    ...members,
  });
}
