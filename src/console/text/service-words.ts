import type { Refusal } from '../../shared/cases/document/refusal.ts';
import type { ToldFault } from '../../shared/contract/rules-and-clients.ts';
import type { Warning } from '../../shared/contract/warning.ts';
import { differences, leftOut } from '../../shared/reasons/remarks.ts';
import { type JsonFault, wordsOfJsonFault } from '../../shared/reasons/text-faults.ts';
import { type Failure, noFailure } from '../api/request.ts';

/** The fault of a JSON text, to be said in the reader's language. */
export const failureOfJson = (fault: JsonFault): Failure => ({
  ...noFailure,
  ...fault,
  error: wordsOfJsonFault(fault),
});

/** What is wrong with a file. */
export const failureOfFault = ({ message: error, ...told }: ToldFault): Failure => ({ ...noFailure, ...told, error });

export const failureOfWarning = ({ code, params, message }: Warning): Failure =>
  failureOfFault({ reason: code, params, message });

const fixed = { ...differences, ...leftOut };

/** A remark whose sentence has no parameters: how what came differs from what was expected, or why a run is left out. */
export const failureOfRemark = (reason: keyof typeof fixed): Failure => ({
  ...noFailure,
  reason,
  error: fixed[reason],
});

/** A mistake in pasted inputs, without its place. */
export const failureOfCell = ({ reason, params = {}, text }: NonNullable<Refusal['cell']>): Failure => ({
  ...noFailure,
  ...{ reason: reason ?? null, params, error: text },
});
