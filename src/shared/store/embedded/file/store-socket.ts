import { rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { parseJson } from '../../../contract/json/parse-json.ts';
import { errnoOf } from '../../../runtime/errno.ts';

const NAME = 'socket';
const requestSchema = z.object({ backup: z.string() });
const replySchema = z.union([z.object({ bytes: z.int() }), z.object({ error: z.string() })]);
type Reply = z.infer<typeof replySchema>;

/** Nobody keeps a store in that folder now. */
export class NoStore extends Error {}

/**
 * Listens on a socket in the folder of the store for who wants a copy of it: whoever may enter that folder. `copy` writes it and resolves to
 * its bytes. Resolves to what ends it.
 */
export async function listenForBackups(folder: string, copy: (to: string) => Promise<number>): Promise<() => void> {
  const path = join(folder, NAME);
  rmSync(path, { force: true }); // of a process that was killed
  const server = createServer((socket) => void serve(socket, copy));
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
  server.unref();
  return () => void server.close();
}

async function serve(socket: Socket, copy: (to: string) => Promise<number>): Promise<void> {
  socket.on('error', () => {}); // whoever asked is gone
  for await (const line of createInterface(socket)) {
    const { data } = requestSchema.safeParse(parseJson(line));
    const reply: Reply = data ? await replyOf(copy(data.backup)) : { error: 'this version knows no such request' };
    socket.end(`${JSON.stringify(reply)}\n`);
    return;
  }
}

async function replyOf(copied: Promise<number>): Promise<Reply> {
  try {
    return { bytes: await copied };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** Asks the process that keeps the store in a folder for a copy. Resolves to its bytes. Throws a sentence for people. */
export async function askForBackup(folder: string, to: string): Promise<number> {
  const socket = connect(join(folder, NAME));
  socket.on('error', () => {}); // told below
  try {
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  } catch (error) {
    throw new NoStore(`no process keeps a store in ${folder} (${errnoOf(error)})`);
  }
  socket.write(`${JSON.stringify({ backup: to })}\n`);
  for await (const line of createInterface(socket)) {
    const reply = replySchema.parse(parseJson(line));
    if ('error' in reply) throw new Error(reply.error);
    return reply.bytes;
  }
  throw new Error('the process that keeps the store ended meanwhile');
}
