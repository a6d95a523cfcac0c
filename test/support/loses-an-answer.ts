import { createServer, request as httpRequest } from 'node:http';

/** A gateway that cuts the connection of the first call once the service has answered it. */
export async function losesAnAnswer(url: string) {
  let calls = 0;
  const server = createServer((incoming, outgoing) => {
    const isFirst = ++calls === 1;
    const { method, headers } = incoming;
    const onward = httpRequest(`${url}${incoming.url}`, { method, headers }, (answer) => {
      if (isFirst) return answer.resume().on('end', () => outgoing.destroy());
      return answer.pipe(outgoing.writeHead(answer.statusCode ?? 500, answer.headers));
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    calls: () => calls,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
