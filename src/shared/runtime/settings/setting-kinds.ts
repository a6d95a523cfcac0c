import { isIP } from 'node:net';
import { totalmem } from 'node:os';
import { z } from 'zod';

export const milliseconds = (fallback: number, { min = 1, max = 3_600_000 } = {}) => whole(fallback, min, max);

export function whole(fallback: number, min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
    .default(fallback);
}

/** Kubernetes sets a variable for every Service: one named "worker" sets WORKER_PORT to its address. */
const SERVICE_LINK = /^(?:tcp|udp|sctp):\/\//;
const NO_SERVICE_LINK =
  'must be a port, and holds the address of a Kubernetes Service whose name it has: set enableServiceLinks: false in the pod';

export const port = (fallback: number) =>
  z
    .string()
    .refine((text) => !SERVICE_LINK.test(text), { error: NO_SERVICE_LINK, abort: true })
    .optional()
    .pipe(whole(fallback, 0, 65_535));

/** A path; undefined when it is usable, else why not. */
export function unusablePath(path: string): string | undefined {
  if (!path.startsWith('~')) return undefined;
  return 'must be a whole path: only a shell turns ~ into a home, and here none did (a name that begins so: ./~)';
}

export const path = z
  .string()
  .min(1)
  .superRefine((text, context) => {
    const message = unusablePath(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .optional();

export const MIB = 1024 * 1024;

export function openBodyBytes(): number {
  const mayHave = Math.min(process.constrainedMemory() || totalmem(), totalmem());
  return Math.round(Math.min(48 * MIB, Math.max(4 * MIB, mayHave / 16)));
}

export const apiKeys = z
  .string()
  .default('')
  .transform((text, context) => {
    const keys = new Map<string, string>();
    for (const pair of text.split(',').filter((part) => part.trim() !== '')) {
      const [name = '', key = ''] = [pair.slice(0, pair.indexOf(':')).trim(), pair.slice(pair.indexOf(':') + 1).trim()];
      if (!pair.includes(':') || !/^[\w.-]{1,64}$/.test(name) || !/^[\x21-\x7e]{16,}$/.test(key) || keys.has(name)) {
        context.addIssue({
          code: 'custom',
          message: 'must be name:key,… with distinct names and keys of at least 16 characters of ASCII, without spaces',
        });
        return z.NEVER;
      }
      keys.set(name, key);
    }
    return keys;
  });

const listOf = (isGood: (part: string) => boolean, what: string) =>
  z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((part) => part.trim() || []))
    .refine((parts) => parts.every(isGood), `must be ${what}, separated by commas`);

export const corsOrigins = listOf(isOrigin, 'origins such as https://rules.example.com');

export const trustedProxies = listOf(isAddressOrRange, 'addresses or ranges such as 10.0.0.0/8');

function isAddressOrRange(text: string): boolean {
  const [address = '', bits] = text.split('/');
  const family = isIP(address);
  return family !== 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32)));
}

export const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,64}$/;

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
