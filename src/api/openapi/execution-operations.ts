import { z } from 'zod';
import {
  cancelledSchema,
  executionListSchema,
  executionSchema,
  failuresSchema,
  keptSchema,
} from '../../shared/contract/execution.ts';
import { eraseParameters, executionParameters, failureParameters, listParameters } from '../http/parameters.ts';
import { AT, accepted, events, execution, executions, failures } from './examples.ts';
import { answer, type Operation } from './operation.ts';
import { refusal } from './refusals.ts';

const EXECUTIONS = '/rule-server/mock/executions';
const { mockId } = accepted;

const common = { method: 'get', needs: 'read', tag: 'Executions' } as const;

/** Executions as a resource. */
export const executionOperations: Operation[] = [
  {
    ...common,
    path: EXECUTIONS,
    id: 'listExecutions',
    summary: 'List executions, what is on its way first, then the newest',
    query: listParameters,
    queryExample: { app: 9001, ruleId: 1, limit: 20 },
    answers: {
      200: answer('One page, without inputs and results.', executionListSchema, { page: executions }),
    },
  },
  {
    ...common,
    path: '/rule-server/mock/failures',
    id: 'listFailures',
    summary: 'Group the failures among executions: how often, at which clients, since when',
    query: failureParameters,
    queryExample: { app: 9001, ruleId: 1 },
    answers: {
      200: answer('The most frequent first, of as many executions as one answer looks through.', failuresSchema, {
        groups: failures,
      }),
    },
  },
  {
    ...common,
    path: '/rule-server/mock/kept',
    id: 'getKept',
    summary: 'How many executions are kept, since when, within which limits, and how long one waits',
    answers: {
      200: answer('Items of batches and pinned executions are not counted.', keptSchema, {
        kept: {
          ...{ executions: 10_000, bytes: 41_000_000, oldest: AT },
          limits: { executions: 10_000, seconds: 604_800, bytes: 268_435_456 },
          waits: { worker: 30_000, client: 60_000 },
        },
      }),
    },
  },
  {
    ...common,
    method: 'put',
    path: `${EXECUTIONS}/{mockId}/pin`,
    id: 'pinExecution',
    needs: 'run',
    summary: 'Keep one that has ended, with its tree, until it is unpinned',
    answers: {
      204: { description: 'It is pinned.' },
      409: refusal('It has not ended, or there is no room.', 'not-in-history', { mockId }),
    },
  },
  {
    ...common,
    method: 'delete',
    path: `${EXECUTIONS}/{mockId}/pin`,
    id: 'unpinExecution',
    needs: 'run',
    summary: 'Keep one no longer than the history keeps it',
    answers: { 204: { description: 'It is not pinned.' } },
  },
  {
    ...common,
    path: `${EXECUTIONS}/{mockId}`,
    id: 'getExecution',
    summary: 'Read one execution: its states with their times, its input, its result',
    description:
      'Fields that MASK names are hidden: `masked` says which. Of an app that HISTORY_OFF names only an execution that was ' +
      'begun with `Prefer: respond-async` can be read, for three minutes after its end.',
    query: executionParameters,
    queryExample: { include: 'tree' },
    answers: {
      200: answer('The execution.', executionSchema, { succeeded: execution }),
      410: refusal('It has ended, and nothing of its app is kept.', 'execution-not-kept', {
        ...{ mockId, state: 'succeeded', app: 9001 },
      }),
    },
  },
  {
    ...common,
    method: 'delete',
    path: `${EXECUTIONS}/{mockId}`,
    id: 'cancelExecution',
    needs: 'cancel',
    summary: 'Cancel an execution, or erase it',
    description:
      'Before the client took the request the rule does not run; after that only the waiting ends. With `erase=true` every ' +
      'trace of an execution that has ended is removed: its job, its record with input and results, the record and the answer ' +
      'of its Idempotency-Key, its item of a batch, its files. The same call under that key ends as `outcome-unknown` for 20 to 40 ' +
      'minutes, and would run again after that. What is gone already counts as erased, with `found: false`: a mistyped id is no proof.',
    query: eraseParameters,
    answers: {
      200: answer('It had been cancelled before, or is erased.', cancelledSchema, {
        cancelled: { mockId, state: 'cancelled' },
        erased: { mockId, state: 'erased', found: true },
      }),
      202: answer('It is being cancelled; its state tells when it is.', cancelledSchema, {
        cancelling: { mockId, state: 'cancelling' },
      }),
      409: refusal('It has ended; or it has not, and is to be erased.', 'execution-ended', { mockId }),
    },
  },
  {
    ...common,
    path: `${EXECUTIONS}/{mockId}/events`,
    id: 'followExecution',
    summary: 'Follow an execution as server-sent events',
    description:
      'A `snapshot` first, then a `state` for each state with its ordinal as id, until the end state. Any instance can ' +
      'be asked, whichever took the call.',
    headers: [
      {
        name: 'Last-Event-ID',
        description: 'The id of the last event that was seen: only what is missing is told.',
        schema: z.string(),
        example: '1',
      },
    ],
    answers: {
      200: {
        description: 'The events.',
        mediaType: 'text/event-stream',
        schema: z.string(),
        examples: { 'picked up': events },
      },
      204: { description: 'It has ended, and the last event was seen: do not come back.' },
    },
  },
];
