import { Redis } from 'ioredis';

/** Sends one command on a connection of its own, and resolves to its reply. */
export async function redisCommand(url: string, name: string, ...parameters: string[]): Promise<unknown> {
  const connection = new Redis(url);
  try {
    return await connection.call(name, ...parameters);
  } finally {
    connection.disconnect();
  }
}
