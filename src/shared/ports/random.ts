import * as crypto from 'node:crypto';
import { perProcess } from './process.ts';

export type Random = {
  uuid(): string;
  /** So many random bytes, in hexadecimal digits. */
  hex(bytes: number): string;
  /** At least 0, less than 1. */
  fraction(): number;
};

const realRandom: Random = {
  uuid: () => crypto.randomUUID(),
  hex: (bytes) => crypto.randomBytes(bytes).toString('hex'),
  fraction: () => Math.random(),
};

export const randomOf = perProcess(() => realRandom);

export const random: Random = {
  uuid: () => randomOf().uuid(),
  hex: (bytes) => randomOf().hex(bytes),
  fraction: () => randomOf().fraction(),
};
