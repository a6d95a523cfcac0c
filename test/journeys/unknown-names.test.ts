import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenApiDocument, operations } from '../../src/api/openapi/document.ts';
import { createAnswerChecks } from '../support/answer-checks.ts';
import { releaseRule } from '../support/release-rule.ts';
import { answers, createResponder, type Responder } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const API = '/rule-server/mock';
const CALL = { app: 7, ruleId: 1, 'the service': {} };
/** Among them names that every object has. */
const NAMES = ['nope', '__proto__', 'constructor', 'toString'];
const checks = createAnswerChecks(createOpenApiDocument('0.0.0'));

describe('a name that is not known', () => {
  let service: Service;
  let client: Responder;
  let mockId: string;
  beforeAll(async () => {
    service = await startService();
    client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: answers() });
    await releaseRule(service.sharedDir, 7, { 1: { type: 3, sonIds: '' } });
    mockId = (await service.execute(CALL)).json.mockId;
  });
  afterAll(async () => {
    expect(client.found).toHaveLength(1);
    await client.stop();
    await service.stop();
  });

  it('as a parameter of what changes something is refused, and nothing is done', async () => {
    const batch = { app: 7, ruleId: 1, cases: [{ name: 'a', 'the service': {} }] };
    const csv = { headers: { 'content-type': 'text/csv' }, body: 'cost\n1\n' };
    const changes: [string, string, object][] = [
      ['POST', 'execute?', { body: JSON.stringify(CALL) }],
      ['POST', 'batches?', { body: JSON.stringify(batch) }],
      ['POST', 'batches?app=7&ruleId=1&', csv],
      ['PUT', 'cases?app=7&ruleId=1&', { headers: { 'if-none-match': '*' }, body: 'app: 7\nruleId: 1\ncases: []\n' }],
      ['PUT', `executions/${mockId}/pin?`, {}],
      ['DELETE', `executions/${mockId}/pin?`, {}],
      ['DELETE', `executions/${mockId}?erase=true&`, {}],
    ];
    for (const [method, path, call] of changes) {
      for (const name of [...NAMES, 'dryrun']) {
        const { status, json } = await service.call(`${API}/${path}${name}=true`, { method, ...call });
        expect([path, status, json.errors?.[0].field]).toEqual([path, 400, name]);
      }
    }
    expect((await service.call(`${API}/executions/${mockId}`)).json).toMatchObject({ mockId, pinned: false });
    expect((await service.call(`${API}/batches`)).json.items).toEqual([]);
  });

  it('as a parameter of what only reads is told in the warnings of the answer', async () => {
    const reads = ['executions?', `executions/${mockId}?`, 'failures?', 'kept?', 'apps?', 'rules?app=7&', 'batches?'];
    for (const path of [
      ...reads,
      'clients?app=7&',
      'tree?app=7&ruleId=1&',
      'schema?app=7&ruleId=1&',
      'readiness?app=7&',
    ]) {
      for (const name of NAMES) {
        const { status, json } = await service.call(`${API}/${path}${name}=1`);
        expect([path, status, json.warnings]).toEqual([
          ...[path, 200],
          [
            {
              code: 'unknown-parameter',
              params: { name },
              message: expect.stringMatching(`^${name} is not known here`),
            },
          ],
        ]);
      }
      expect((await service.call(`${API}/${path}`)).json.warnings ?? []).toEqual([]);
      const known = `${API}/${path.split('?')[0]}`.replace(mockId, '{mockId}');
      const operation = operations.find(({ method, path }) => method === 'get' && path === known);
      const { json } = await service.call(`${API}/${path}nope=1`);
      expect([path, checks.problems(operation?.id ?? '', 200, json)]).toEqual([path, []]);
    }
    const near = await service.call(`${API}/executions?limits=1`);
    expect(near.json.warnings[0].message).toBe('limits is not known here; did you mean "limit"?');
    const unseen = await service.call(`${API}/executions?limit%E2%80%8B=1`);
    expect(unseen.json.warnings[0].message).toBe('limit\\u200b is not known here; did you mean "limit"?');
    expect((await service.call(`${API}/executions?__proto__=1&limit=0`)).status).toBe(400);
  });

  it('is refused where an answer has no warnings', async () => {
    const { status, json } = await service.call(`${API}/executions/${mockId}/events?nope=1`);
    expect([status, json.errors[0].field]).toEqual([400, 'nope']);
  });

  it('a number that is not written in digits is refused', async () => {
    for (const limit of ['0x10', '1e1', '+5', '5.0', '-1', '0', '101', ' 5'])
      expect((await service.call(`${API}/executions?limit=${encodeURIComponent(limit)}`)).json.errors).toMatchObject([
        { field: 'limit', message: 'must be a whole number from 1 to 100' },
      ]);
    expect((await service.call(`${API}/executions?limit=05`)).status).toBe(200);
  });

  it('a year, or the number that a spreadsheet has for a day, is not taken for milliseconds', async () => {
    const statusOf = async (from: string) => (await service.call(`${API}/executions?from=${from}`)).status;
    expect(await Promise.all(['46096', '2026', '20260315', '2026-03-15'].map(statusOf))).toEqual([400, 400, 200, 200]);
  });
});
