import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

export type ClientAddress = ReturnType<typeof createClientAddress>;

/** The caller's address. `X-Forwarded-For` is used only behind TRUSTED_PROXIES. */
export function createClientAddress(proxies: readonly string[]) {
  const trusted = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const isTrusted = (address: string) =>
    isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  const peerOf = ({ socket }: IncomingMessage) => plain(socket.remoteAddress ?? '');

  return {
    isFromProxy: (incoming: IncomingMessage) => isTrusted(peerOf(incoming)),
    /** The last address on the way that is not a trusted proxy. */
    of(incoming: IncomingMessage): string {
      let address = peerOf(incoming);
      const forwarded = String(incoming.headers['x-forwarded-for'] ?? '')
        .split(',')
        .reverse();
      for (const before of forwarded) {
        const next = plain(before.trim());
        if (!isTrusted(address) || isIP(next) === 0) break;
        address = next;
      }
      return address;
    },
  };
}

/** Unwraps IPv4-mapped IPv6 addresses. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
