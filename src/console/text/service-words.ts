import type { ToldFault } from '../../shared/contract/rules-and-clients.ts';
import type { Warning } from '../../shared/contract/warning.ts';
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
