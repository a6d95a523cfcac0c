import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { statesOf } from '../../src/cli/runs/event-stream.ts';

const step = (state: string) => JSON.stringify({ state, at: 1, address: null, ending: null }, null, 1);

test.each([
  ['lines that end in CRLF', (text: string) => text.replaceAll('\n', '\r\n')],
  ['lines that end in LF', (text: string) => text],
])('the states of an execution are read from events of several lines, with %s', async (_, ends) => {
  const event = (id: number, state: string) =>
    `event: state\nid: ${id}\n${step(state)
      .split('\n')
      .map((line) => `data:${line}`)
      .join('\n')}\n\n`;
  const text = ends(`: a comment\nevent: snapshot\ndata: {}\n\n${event(0, 'queued')}${event(1, 'succeeded')}`);
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    // Cut in the middle of lines, as networks do.
    for (let at = 0; at < text.length; at += 7) response.write(text.slice(at, at + 7));
    response.end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const api = { open: (path: string, init: object = {}) => fetch(`http://127.0.0.1:${port}${path}`, init) };
  const states: string[] = [];
  const signal = AbortSignal.timeout(10_000);
  for await (const { state } of statesOf(api, 'm', signal)) states.push(state);
  server.close();
  expect(states).toEqual(['queued', 'succeeded']);
});
