import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

/** One server-sent event; `data` parsed, for looking at it. */
export type StreamEvent = {
  event: string;
  id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  data: any;
};

export type EventStream = {
  status: number;
  headers: IncomingMessage['headers'];
  /** Everything received so far. */
  events: StreamEvent[];
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
  close(): void;
};

/** Reads a stream of server-sent events as a browser does. `lastEventId` is what a reconnecting one sends. */
export async function openEventStream(
  url: string,
  { lastEventId, headers = {} }: { lastEventId?: string; headers?: Record<string, string> } = {},
): Promise<EventStream> {
  const resumed = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const outgoing = request(url, { headers: { accept: 'text/event-stream', ...resumed, ...headers } }).end();
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const events: StreamEvent[] = [];
  let unread = '';
  incoming.setEncoding('utf8');
  incoming.on('data', (chunk: string) => {
    const blocks = `${unread}${chunk}`.split('\n\n');
    unread = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parse(block);
      if (event) events.push(event);
    }
  });
  const ended = once(incoming, 'close').then(
    () => {},
    () => {}, // one that was cut off has ended as well
  );
  incoming.on('error', () => {}); // it closes as well
  outgoing.on('error', () => {});
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    events,
    ended,
    close: () => outgoing.destroy(),
  };
}

function parse(block: string): StreamEvent | undefined {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
    }),
  );
  const data = fields.get('data');
  if (data === undefined) return undefined;
  return { event: fields.get('event') ?? 'message', id: fields.get('id'), data: JSON.parse(data) };
}
