import { z } from 'zod';
import { callerSchema, permissions } from '../../shared/contract/caller.ts';
import { problemAt } from '../../shared/reasons/problems.ts';
import { sessionRequestSchema } from '../access/sessions.ts';
import { healthAnswer, readyAnswer } from './answers.ts';
import { answer, type Operation } from './operation.ts';
import { badQuestion, failed, forbidden, refusal, unavailable } from './refusals.ts';

const ready = { status: 'ready', queue: 'up', reason: null, workers: 3, problems: [], waiting: 0, active: 12 };
const anybody = { name: null, may: [...permissions], apps: null };
const common = { method: 'get', tag: 'Service' } as const;

/** The service itself. */
export const serviceOperations: Operation[] = [
  {
    ...common,
    path: '/healthz',
    id: 'healthz',
    summary: 'Whether this process lives',
    open: true,
    answers: { 200: answer('It does.', healthAnswer, { ok: { status: 'ok' } }) },
  },
  {
    ...common,
    path: '/readyz',
    id: 'readyz',
    summary: 'Whether this process can take calls',
    open: true,
    answers: {
      200: answer('It can.', readyAnswer, { ready }),
      503: answer('Not now: the queue store is away or takes no writes, or the process starts or stops.', readyAnswer, {
        'not ready': { ...ready, status: 'not ready', queue: 'down', reason: 'Redis takes no writes (READONLY)' },
      }),
    },
  },
  {
    ...common,
    path: '/session',
    id: 'whoAmI',
    summary: 'Whose key or session this is, and what it may do',
    answers: {
      200: answer(
        'The name of the key, its permissions and its apps; null for every app. Without keys the name is null.',
        callerSchema,
        { reader: { name: 'dashboard', may: ['read'], apps: [1, 9001] }, anybody },
      ),
    },
  },
  {
    method: 'post',
    path: '/session',
    id: 'signIn',
    tag: 'Service',
    summary: 'Trade a key for a session cookie',
    description: 'For browsers, whose EventSource sends no headers. The cookie is HttpOnly and SameSite=Strict.',
    open: true,
    body: { schema: sessionRequestSchema, examples: { key: { key: '0123456789abcdef0123456789abcdef' } } },
    answers: {
      204: { description: 'Signed in for 12 hours.', headers: { 'Set-Cookie': 'The session.' } },
      400: badQuestion('There is no key.', problemAt('key', 'only-key', { example: '{"key":"…"}' })),
      401: refusal('Not a key.', 'key-unknown', {}),
      403: forbidden,
      500: failed,
      503: unavailable,
    },
  },
  {
    method: 'delete',
    path: '/session',
    id: 'signOut',
    tag: 'Service',
    summary: 'End the session of this browser',
    open: true,
    answers: { 204: { description: 'Signed out.' }, 403: forbidden, 500: failed, 503: unavailable },
  },
  {
    ...common,
    path: '/metrics',
    id: 'metrics',
    needs: 'ops',
    summary: 'What Prometheus scrapes',
    answers: {
      200: {
        description: 'Counters, gauges and histograms.',
        mediaType: 'text/plain',
        schema: z.string(),
        examples: { some: '# TYPE rule_server_queue_waiting gauge\nrule_server_queue_waiting 0\n' },
      },
    },
  },
  {
    ...common,
    path: '/openapi.json',
    id: 'openapi',
    summary: 'This description',
    answers: {
      200: {
        description: 'OpenAPI 3.1.',
        schema: z.looseObject({ openapi: z.string() }),
        examples: { description: { openapi: '3.1.1' } },
      },
    },
  },
];
