import { request as httpRequest } from 'node:http';
import { gatewayThat } from './gateway.ts';

/** A gateway that cuts the connection of the first call once the service has answered it. */
export async function losesAnAnswer(url: string) {
  let calls = 0;
  const gateway = await gatewayThat((incoming, outgoing) => {
    const isFirst = ++calls === 1;
    const { method, headers } = incoming;
    const onward = httpRequest(`${url}${incoming.url}`, { method, headers }, (answer) => {
      if (isFirst) return answer.resume().on('end', () => outgoing.destroy());
      return answer.pipe(outgoing.writeHead(answer.statusCode ?? 500, answer.headers));
    });
    incoming.pipe(onward);
  });
  return { ...gateway, calls: () => calls };
}
