import { setTimeout } from 'node:timers/promises';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { isEndState } from '../../shared/contract/endings/states.ts';
import { type StateEvent, stateEventSchema } from '../../shared/contract/execution.ts';
import { type HttpApi, readAnswer } from '../terminal/http-api.ts';

const RECONNECT_MS = 500;
const GIVE_UP_MS = 30_000;

/** Yields each state of an execution once, until it ends or `signal` aborts. Reconnects, and gives up after `giveUpMs` without an event. */
export async function* statesOf(
  api: Pick<HttpApi, 'open'>,
  mockId: string,
  signal: AbortSignal,
  { giveUpMs = GIVE_UP_MS } = {},
): AsyncGenerator<StateEvent> {
  let seen = -1;
  for (let lastEventAt = Date.now(); !signal.aborted && Date.now() - lastEventAt < giveUpMs; ) {
    const headers = { accept: 'text/event-stream', 'last-event-id': String(seen) };
    const response = await api
      .open(`/rule-server/mock/executions/${mockId}/events`, { headers, signal })
      .catch(() => null);
    if (response?.status === 204 || response?.status === 404) return;
    for await (const { id, state } of response?.body ? eventsIn(response.body) : []) {
      if (id <= seen) continue;
      seen = id;
      yield state;
      if (isEndState(state.state)) return;
    }
    if (response?.ok) lastEventAt = Date.now();
    await setTimeout(RECONNECT_MS, undefined, { signal }).catch(() => {});
  }
}

async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<{ id: number; state: StateEvent }> {
  for await (const { event, id, data } of messagesIn(body)) {
    if (event === 'state') yield { id: Number(id), state: readAnswer(stateEventSchema, data) };
  }
}

/** The events of one connection, until it ends or breaks. */
export async function* messagesIn(body: ReadableStream<Uint8Array>): AsyncGenerator<EventSourceMessage> {
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
