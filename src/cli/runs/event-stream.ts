import { setTimeout } from 'node:timers/promises';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { isEndState } from '../../shared/contract/endings/states.ts';
import { type StateEvent, stateEventSchema } from '../../shared/contract/execution.ts';
import { type HttpApi, readAnswer } from '../terminal/http-api.ts';

const RECONNECT_MS = 500;
const GIVE_UP_MS = 30_000;
const NOTHING_THERE = [204, 404, 410];

/** Yields each state of an execution once, until it ends or `signal` aborts. Gives up after `giveUpMs` without a connection. */
export async function* statesOf(
  api: Pick<HttpApi, 'open'>,
  mockId: string,
  signal: AbortSignal,
  { giveUpMs = GIVE_UP_MS } = {},
): AsyncGenerator<StateEvent> {
  let seen = -1;
  const headers = () => ({ 'last-event-id': String(seen) });
  for await (const { event, id, data } of eventsOf(api, `executions/${mockId}`, { signal, headers, giveUpMs })) {
    if (event !== 'state' || Number(id) <= seen) continue;
    seen = Number(id);
    const state = readAnswer(stateEventSchema, data);
    yield state;
    if (isEndState(state.state)) return;
  }
}

type Following = { signal: AbortSignal; headers?: () => Record<string, string>; giveUpMs?: number };

/** The events of an execution or a batch, over lost connections; ends where it is not there, or after `giveUpMs` without a connection. */
export async function* eventsOf(
  api: Pick<HttpApi, 'open'>,
  of: string,
  { signal, headers = () => ({}), giveUpMs = GIVE_UP_MS }: Following,
): AsyncGenerator<EventSourceMessage> {
  for (let connectedUntil = Date.now(); !signal.aborted && Date.now() - connectedUntil < giveUpMs; ) {
    const call = { headers: { accept: 'text/event-stream', ...headers() }, signal };
    const response = await api.open(`/rule-server/mock/${of}/events`, call).catch(() => null);
    if (response && NOTHING_THERE.includes(response.status)) return;
    if (response?.ok && response.body) yield* messagesIn(response.body);
    if (response?.ok) connectedUntil = Date.now();
    await setTimeout(RECONNECT_MS, undefined, { signal }).catch(() => {});
  }
}

/** The events of one connection, until it ends or breaks. */
async function* messagesIn(body: ReadableStream<Uint8Array>): AsyncGenerator<EventSourceMessage> {
  const decoder = new TextDecoder();
  const found: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => found.push(event) });
  try {
    for await (const chunk of body) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* found.splice(0);
    }
  } catch {
    // Connection lost: the caller reconnects.
  }
}
