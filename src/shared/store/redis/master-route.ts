import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, type RedisOptions } from 'ioredis';
import { retry, SOON_MS } from '../../runtime/async.ts';
import type { RedisAddress } from '../../runtime/settings/redis-address.ts';
import { every } from '../../runtime/upkeep.ts';
import { createMasterFinder, type MasterFinder, nameOf } from './master-finder.ts';

const CHECK_EVERY_MS = 500;
const CLOSE_WITHIN_MS = 100;

/** How connections find the master, and leave one that was replaced. */
export type MasterRoute = {
  Connector: NonNullable<RedisOptions['Connector']>;
  /** Checks now whether the master moved. */
  poll(): void;
  close(): void;
};

/**
 * Connects to the current master, and closes every connection to another server as soon as that is known: an old master that is frozen or
 * cut off would keep them for ever.
 */
export function createMasterRoute(address: RedisAddress): MasterRoute {
  const finder = createMasterFinder(address);
  const open = new Map<Socket, string>();

  async function leaveOldMaster(): Promise<void> {
    const master = nameOf(await finder.find());
    for (const [socket, name] of open) if (name !== master) socket.destroy();
  }
  const polling = every(CHECK_EVERY_MS, leaveOldMaster, () => {}); // the connection reports that none is found

  return {
    Connector: connectorTo(finder, address, open),
    poll: () => void leaveOldMaster().catch(() => {}),
    close() {
      void polling.stop();
      finder.close();
    },
  };
}

function connectorTo(finder: MasterFinder, { tls }: RedisAddress, open: Map<Socket, string>) {
  return class MasterConnector extends AbstractConnector {
    constructor() {
      super(CLOSE_WITHIN_MS);
    }

    override async connect(tell: (event: string, error: Error) => void): Promise<Socket> {
      this.connecting = true;
      // A connector that rejects makes ioredis give up for good.
      const master = await retry(() => finder.find(), {
        goOn: () => this.connecting,
        everyMs: SOON_MS,
        onError: (error) => void (error instanceof Error && tell('error', error)),
      });
      if (!this.connecting || !master) throw new Error('Connection is closed.');
      return this.#connectTo(nameOf(master), master);
    }

    /** Called with the role in INFO: connections to a replica are closed. */
    override check({ role }: { role?: string }): boolean {
      return role !== 'slave';
    }

    #connectTo(name: string, { host, port }: { host: string; port: number }): Socket {
      const named = isIP(host) === 0 && { servername: host };
      const socket = tls ? connectTls({ host, port, ...named, ...tls }) : connect({ host, port });
      this.stream = socket;
      open.set(socket, name);
      socket.once('close', () => open.delete(socket));
      socket.once('error', (error) => {
        this.firstError = error;
      });
      return socket;
    }
  };
}
