import { Redis } from 'ioredis';

/** Sends one command on a connection of its own. */
export async function redisCommand(url: string, name: string, ...parameters: string[]): Promise<void> {
  const connection = new Redis(url);
  try {
    await connection.call(name, ...parameters);
  } finally {
    connection.disconnect();
  }
}
