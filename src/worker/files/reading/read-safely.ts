import { constants } from 'node:fs';

/** Follows no link, and does not wait at a pipe: that would block one of the few threads for ever. */
export const READ_SAFELY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

type Readable = {
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
};

/** The first bytes of a file: `atMost` at most. What was not there at first is for the next look. */
export async function readUpTo(file: Readable, atMost: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(atMost);
  let length = 0;
  while (length < atMost) {
    const { bytesRead } = await file.read(buffer, length, atMost - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}
