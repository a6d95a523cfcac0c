import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';

/** What stands in the place of another HTTP server, such as a gateway, until it is disposed of. */
export async function gatewayThat(answers: RequestListener) {
  const server = createServer(answers).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : undefined}`;
  return { url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
