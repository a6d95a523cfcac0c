import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';

/** The media type of a refusal (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json';

/** A refusal as a problem, which also has `success` and `error`, so that one reader fits all answers. */
export function problemBody(status: number, error: string, more: object = {}): string {
  const title = STATUS_CODES[status];
  return JSON.stringify({ type: 'about:blank', title, status, detail: error, success: false, error, ...more });
}

/** Refuses a request before any route has it. Its body is not read, so the connection ends. */
export function sendProblem(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { 'content-type': PROBLEM_TYPE, connection: 'close' }).end(problemBody(status, error));
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;
type Refusal = { status: number; error: string };
const MALFORMED: Refusal = { status: 400, error: 'This is not a request of HTTP/1.1 that can be read.' };
/** What Node refuses by itself, by the code of its error. */
const UNREADABLE = new Map<unknown, Refusal>([
  ['HPE_HEADER_OVERFLOW', { status: 431, error: 'The address and the headers are too long.' }],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', { status: 413, error: 'The extensions of a chunk are too long.' }],
  ['ERR_HTTP_REQUEST_TIMEOUT', { status: 408, error: 'The request did not arrive in time.' }],
]);
const NO_TUNNEL: Refusal = { status: 405, error: 'CONNECT is not supported here.' };

/** A server that gives what it refuses before its listener is called the form of every other refusal. Node sends no body. */
export function createHttpServer(options: ServerOptions, listener: Listener): Server {
  const answers = new WeakMap<Duplex, ServerResponse>();
  const server = createServer({ ...options, requireHostHeader: false }, (request, response) => {
    const { socket, httpVersion, headers } = request;
    answers.set(socket, response);
    // A health check of HTTP/1.0 has no Host, and needs none (RFC 9112, section 3.2).
    const lacksHost = headers.host === undefined && httpVersion === '1.1';
    if (lacksHost) sendProblem(response, 400, 'HTTP/1.1 needs a Host header.');
    else listener(request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const answer = answers.get(socket);
    const isAnswering = answer?.headersSent === true && !answer.writableFinished;
    if (!socket.writable || isAnswering) socket.destroy();
    else endWith(socket, UNREADABLE.get(error.code) ?? MALFORMED);
  });
  server.on('checkExpectation', (_request, response) =>
    sendProblem(response, 417, 'The only expectation that is known here is 100-continue.'),
  );
  server.on('connect', (_request, socket) => endWith(socket, NO_TUNNEL));
  return server;
}

function endWith(socket: Duplex, { status, error }: Refusal): void {
  const body = problemBody(status, error);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: ${PROBLEM_TYPE}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`;
  socket.on('error', () => {}); // its sender may be gone
  socket.end(head + body);
}
