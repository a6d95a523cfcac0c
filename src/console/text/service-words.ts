import type { Refusal } from '../../shared/cases/document/refusal.ts';
import { type JsonFault, wordsOfJsonFault } from '../../shared/reasons/json-faults.ts';
import { differences } from '../../shared/reasons/remarks.ts';
import type { Difference } from '../api/batch-items.ts';
import type { ExecutionRecord } from '../api/executions.ts';
import { type Failure, noFailure } from '../api/request.ts';

/** The fault of a JSON text, to be said in the reader's language. */
export const failureOfJson = (fault: JsonFault): Failure => ({
  ...noFailure,
  ...fault,
  error: wordsOfJsonFault(fault),
});

export const failureOfWarning = ({ code, params, message }: ExecutionRecord['warnings'][number]): Failure => ({
  ...noFailure,
  ...{ reason: code, params, error: message },
});

/** How what came differs from what was expected. */
export const failureOfDifference = (how: Difference['how']): Failure => ({
  ...noFailure,
  reason: how,
  error: differences[how],
});

/** A mistake in pasted inputs, without its place. */
export const failureOfCell = ({ reason, params = {}, text }: NonNullable<Refusal['cell']>): Failure => ({
  ...noFailure,
  ...{ reason: reason ?? null, params, error: text },
});
