import { isIP } from 'node:net';
import { totalmem } from 'node:os';
import { z } from 'zod';
import { because, issueOf } from '../../contract/issues.ts';
import { problemText } from '../../reasons/problems.ts';

export const milliseconds = (fallback: number, { min = 1, max = 3_600_000 } = {}) => whole(fallback, min, max);

export function whole(fallback: number, min: number, max: number) {
  const bounds = because('invalid-type', { expected: 'whole-number', minimum: min, maximum: max });
  return z
    .string()
    .refine((text) => /^\d{1,15}$/.test(text), { ...bounds, abort: true })
    .transform(Number)
    .refine((value) => value >= min && value <= max, bounds)
    .default(fallback);
}

/** Kubernetes sets a variable for every Service: one named "worker" sets WORKER_PORT to its address. */
const SERVICE_LINK = /^(?:tcp|udp|sctp):\/\//;

export const port = (fallback: number) =>
  z
    .string()
    .refine((text) => !SERVICE_LINK.test(text), { ...because('service-link', {}), abort: true })
    .optional()
    .pipe(whole(fallback, 0, 65_535));

/** Only a shell turns ~ into a home. */
const isWhole = (path: string) => !path.startsWith('~');

/** What is wrong with a path; undefined when it is usable. */
export const unusablePath = (path: string): string | undefined =>
  isWhole(path) ? undefined : problemText({ code: 'home-path', params: {} });

export const path = z.string().min(1).refine(isWhole, because('home-path', {})).optional();

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
        context.addIssue(issueOf({ problem: 'invalid-format', expected: 'api-keys' }));
        return z.NEVER;
      }
      keys.set(name, key);
    }
    return keys;
  });

const listOf = (isGood: (part: string) => boolean, expected: string, example: string) =>
  z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((part) => part.trim() || []))
    .refine((parts) => parts.every(isGood), because('invalid-format', { expected, example }));

export const corsOrigins = listOf(isOrigin, 'origins', 'https://rules.example.com');

export const trustedProxies = listOf(isAddressOrRange, 'address-ranges', '10.0.0.0/8');

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
