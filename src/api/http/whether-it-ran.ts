import { readProblem } from '../../shared/contract/problem.ts';
import { isRefusalCode, refusals } from '../../shared/reasons/refusals.ts';
import { PROBLEM_TYPE, problemBody } from '../../shared/runtime/http-refusals.ts';
import type { Layer } from './layers.ts';

/** Refusals because of the call itself, or after the record of its key was read: whatever an earlier call did, this one cannot run. */
const OF_THE_CALL = new Set<string>([
  ...['bad-request', 'key-reused', 'body-too-large', 'foreign-type', 'compressed-body', 'wrong-method'],
  ...['too-many-batches', 'no-room-for-batch', 'nobody-to-run-batch', 'unknown-batch', 'batch-gone', 'batch-not-kept'],
  ...['no-saved-cases', 'cases-unusable', 'cases-file-unusable'],
]);

/**
 * Adds `mayHaveRun` to each refusal of a call: false, unless the service failed or an earlier call under its Idempotency-Key may have run.
 * Then a 503, which invites a repeat, becomes a 504.
 */
export const tellWhetherItRan = (): Layer => {
  return (context) => async () => {
    const { req, res } = context;
    if (req.method !== 'POST' || res.headers.get('content-type') !== PROBLEM_TYPE) return;
    const { code, params = {}, errors, mayHaveRun: told } = readProblem(await res.clone().text());
    if (code === undefined || !isRefusalCode(code) || told !== undefined) return;
    const isKeyed = req.header('idempotency-key') !== undefined;
    const mayHaveRun = code === 'internal-error' || (isKeyed && !OF_THE_CALL.has(code));
    const status = mayHaveRun && refusals[code].status === 503 ? 504 : res.status;
    const headers = new Headers(res.headers);
    headers.delete('content-length');
    context.res = undefined; // else its headers would be laid over those of the new answer
    context.res = new Response(problemBody({ code, params }, { ...(errors && { errors }), status, mayHaveRun }), {
      status,
      headers,
    });
  };
};
