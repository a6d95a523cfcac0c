import { Hono } from 'hono';
import { callerLeft } from '../caller-left.ts';
import type { Environment } from '../environment.ts';
import { readBody } from '../read-body.ts';
import { readExecuteRequest } from '../read-request.ts';
import { badRequest, problem, respondToEnding } from '../respond.ts';
import type { SubmitExecution } from '../submit-execution.ts';

/** POST /rule-server/mock/execute: run one rule on one client and answer with what the client wrote. */
export function executeRoute({
  submitExecution,
  maxBodyBytes,
}: {
  submitExecution: SubmitExecution;
  maxBodyBytes: number;
}) {
  return new Hono<Environment>().post('/execute', async (context) => {
    const { incoming, outgoing } = context.env;
    if (isFormPost(incoming.headers)) {
      return problem(
        415,
        'A browser must send content-type: application/json; anything else could come from a foreign page.',
      );
    }
    const body = await readBody(incoming, maxBodyBytes);
    if (body.kind === 'too-large') {
      return problem(413, `The body is larger than ${maxBodyBytes} bytes (MAX_BODY_BYTES).`, {
        headers: { connection: 'close' },
      });
    }
    if (body.kind === 'cut-off') return badRequest([{ field: 'body', message: 'was cut off before its end' }]);

    const read = readExecuteRequest(body.bytes);
    if (read.kind === 'bad') return badRequest(read.problems);
    return respondToEnding(context, await submitExecution(read.request, callerLeft(outgoing)));
  });
}

/** Browsers send forms and plain text to any site without asking it first; a JSON body they do not. */
function isFormPost(headers: NodeJS.Dict<string | string[]>): boolean {
  const fromBrowser = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
  const type = String(headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  return fromBrowser && type !== 'application/json';
}
