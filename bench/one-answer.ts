// Answers everything at once with the same text, and /slow after a minute. Tells its parent the port.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, response) => {
  request.resume();
  const answer = () => response.setHeader('content-type', 'application/json').end('{"success":true}');
  if (request.url === '/slow') setTimeout(answer, 60_000);
  else answer();
}).listen(0, '127.0.0.1', () => {
  const address = server.address() as AddressInfo;
  process.send?.(address.port);
});
