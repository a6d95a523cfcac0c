import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { visibleLines } from '../contract/json/visible-text.ts';
import type { Problem } from '../reasons/problems.ts';
import { type RefusalCode, refusals } from '../reasons/refusals.ts';
import { givenOf, mapTexts, type Params, type ParamsOf } from '../reasons/template.ts';
import { sentenceOf, withMessage } from '../reasons/words.ts';

/** The media type of a refusal (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json';

/** A refusal of a request: what its sentence is made of. */
export type Refusal = { code: RefusalCode; params: Params; errors?: readonly Problem[] };

export function refusalOf<Of extends RefusalCode>(code: Of, params: ParamsOf<(typeof refusals)[Of]['text']>): Refusal {
  return { code, params: mapTexts(givenOf(params), visibleLines) };
}

/** A refusal because of these problems. */
export function refusalFor(code: 'bad-request' | 'cases-unusable', errors: readonly Problem[]): Refusal {
  const shown = errors.map((each) => ({ ...each, params: mapTexts(each.params, visibleLines) }));
  return { code, params: {}, errors: shown };
}

/** The same as the outcome of a task. */
export type Refused = { kind: 'refused' } & Refusal;

export const refused = <Of extends RefusalCode>(
  code: Of,
  params: ParamsOf<(typeof refusals)[Of]['text']>,
): Refused => ({ kind: 'refused', ...refusalOf(code, params) });

export const errorOfRefusal = ({ code, params, errors }: Refusal): string =>
  visibleLines(sentenceOf({ reason: code, params, mayHaveRun: null, errors }));

/** The place in the documents that tells about a code. */
const typeOfCode = (code: string): string => `/docs#code-${code}`;

/** `status`: where it is not that of the code. */
type More = { status?: number; mayHaveRun?: boolean; [member: string]: unknown };

/** A refusal as a problem, which also has `success` and `error`, so that one reader fits all answers. */
export function problemBody(
  { code, params, errors }: Refusal,
  { status = refusals[code].status, ...more }: More = {},
): string {
  const error = visibleLines(sentenceOf({ reason: code, params, mayHaveRun: more.mayHaveRun ?? null, errors }));
  const problem = { type: typeOfCode(code), title: STATUS_CODES[status], status, detail: error };
  const told = errors && { errors: errors.map(withMessage) };
  return JSON.stringify({ ...problem, ...told, success: false, error, code, reason: code, params, ...more });
}

/** Refuses a request before any route has it. Its body is not read, so the connection ends. */
export function sendProblem(response: ServerResponse, refusal: Refusal): void {
  const head = { 'content-type': PROBLEM_TYPE, connection: 'close' };
  response.writeHead(refusals[refusal.code].status, head).end(problemBody(refusal));
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;
const MALFORMED = refusalOf('malformed-request', {});
/** What Node refuses by itself, by the code of its error. */
const UNREADABLE = new Map<unknown, Refusal>([
  ['HPE_HEADER_OVERFLOW', refusalOf('headers-too-long', {})],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', refusalOf('chunk-extensions-too-long', {})],
  ['ERR_HTTP_REQUEST_TIMEOUT', refusalOf('request-too-slow', {})],
]);
const NO_TUNNEL = refusalOf('no-tunnel', {});

/** A server that gives what it refuses before its listener is called the form of every other refusal. Node sends no body. */
export function createHttpServer(options: ServerOptions, listener: Listener): Server {
  const answers = new WeakMap<Duplex, ServerResponse>();
  const server = createServer({ ...options, requireHostHeader: false }, (request, response) => {
    const { socket, httpVersion, headers } = request;
    answers.set(socket, response);
    // A health check of HTTP/1.0 has no Host, and needs none (RFC 9112, section 3.2).
    const lacksHost = headers.host === undefined && httpVersion === '1.1';
    if (lacksHost) sendProblem(response, refusalOf('no-host', {}));
    else listener(request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const answer = answers.get(socket);
    const isAnswering = answer?.headersSent === true && !answer.writableFinished;
    if (!socket.writable || isAnswering) socket.destroy();
    else endWith(socket, UNREADABLE.get(error.code) ?? MALFORMED);
  });
  server.on('checkExpectation', (_request, response) => sendProblem(response, refusalOf('unknown-expectation', {})));
  server.on('connect', (_request, socket) => endWith(socket, NO_TUNNEL));
  return server;
}

function endWith(socket: Duplex, refusal: Refusal): void {
  const { status } = refusals[refusal.code];
  const body = problemBody(refusal);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: ${PROBLEM_TYPE}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`;
  socket.on('error', () => {}); // its sender may be gone
  socket.end(head + body);
}
