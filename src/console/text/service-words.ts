import type { FaultBody } from '../../shared/contract/rules-and-clients.ts';
import type { Warning } from '../../shared/contract/warning.ts';
import { asReason } from '../../shared/reasons/template.ts';
import { type TextFault, textFaultOf } from '../../shared/reasons/text-faults.ts';
import { type Failure, noFailure } from '../api/request.ts';

/** What is wrong with a text, to be said in the reader's language. */
export const failureOfText = (fault: TextFault): Failure => failureOfFault(asReason(fault, textFaultOf(fault)));

/** What is wrong with a file. */
export const failureOfFault = ({ message: error, ...told }: FaultBody): Failure => ({ ...noFailure, ...told, error });

export const failureOfWarning = ({ code, params, message }: Warning): Failure =>
  failureOfFault({ reason: code, params, message });
