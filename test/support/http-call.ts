import { once } from 'node:events';
import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { noteInputsIn, noteSecret } from './written-output.ts';

export type Call = {
  method?: string;
  headers?: Record<string, string>;
  /** Sent as it is; a stream goes out chunked. */
  body?: string | Uint8Array | Readable;
  /** Aborting it is the caller hanging up. */
  signal?: AbortSignal;
  agent?: Agent;
};

/** An answer as its bytes. `json` is for looking at it, never for comparing numbers. */
export type Answer = {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: any;
};

/** One HTTP call whose headers and bytes are exactly what the test says. */
export async function httpCall(
  url: string,
  { method = 'GET', headers = {}, body, signal, agent }: Call = {},
): Promise<Answer> {
  const token = /^Bearer (\S{16,})$/.exec(String(headers.authorization ?? ''))?.[1];
  if (token !== undefined) noteSecret(token);
  if (typeof body === 'string') noteInputsIn(body);
  const outgoing = request(url, { method, headers, ...(signal && { signal }), ...(agent && { agent }) });
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) outgoing.end(body);
  // A server that has heard enough closes while we still send; what counts is whether its answer came.
  else pipeline(body, outgoing).catch(() => {});
  const [incoming] = await answered;
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString('utf8');
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, bytes, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
