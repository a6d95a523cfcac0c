import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export type NameServer = { address: string; close(): Promise<void> };

/** A DNS server that answers every question with the IPv4 addresses `answer` gives at that moment (RFC 1035). */
export async function startNameServer(answer: () => string[]): Promise<NameServer> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => socket.send(respond(query, answer()), port, address));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function respond(query: Buffer, addresses: string[]): Buffer {
  const question = query.subarray(12, endOfQuestion(query));
  const isForIpv4 = question.readUInt16BE(question.length - 4) === 1;
  const answers = isForIpv4 ? addresses : [];
  const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, answers.length, 0, 0, 0, 0]);
  return Buffer.concat([header, question, ...answers.map(addressRecord)]);
}

function endOfQuestion(query: Buffer): number {
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) at += length + 1;
  return at + 5;
}

/** Name (pointer to the question), type A, class IN, one second to live, four bytes of address. */
function addressRecord(address: string): Buffer {
  return Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]);
}
