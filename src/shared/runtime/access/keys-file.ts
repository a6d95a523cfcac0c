import { type Document, parseDocument } from 'yaml';
import { z } from 'zod';
import { because, issueOf, problemsOf } from '../../contract/issues.ts';
import { problemLines } from '../../reasons/problems.ts';
import { POLL_MS } from '../async.ts';
import { readText } from '../read-text.ts';
import { BadSettings } from '../settings/settings.ts';
import { every } from '../upkeep.ts';
import { type Caller, permissions } from './caller.ts';

/** One entry of a keys file. Without a digest it is a person a trusted proxy names (`TRUSTED_USER_HEADER`). */
export type KeyEntry = Caller & { name: string; digest: Buffer | null; expiresAt: number | null };

/** Scalars are read as text, because a digest of digits alone would become a number. */
const whole = z
  .string()
  .refine((text) => /^[1-9]\d{0,9}$/.test(text), because('too-small', { expected: 'whole-number', minimum: 1 }))
  .transform(Number);
const bound = whole.refine((value) => value <= 1_000_000, because('too-many', { maximum: 1_000_000 }));
const limits = z.strictObject({ callsPerSecond: bound, openCalls: bound, streams: bound, batches: bound }).partial();
const isExpiry = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);
const expiry = z
  .custom<string>((value) => isExpiry.safeParse(value).success, because('invalid-format', { expected: 'day-or-time' }))
  .transform((text) => Date.parse(text));

const entrySchema = z
  .strictObject({
    name: z
      .string()
      .refine((text) => /^([\w.@+-]{1,64}|\*)$/.test(text), because('invalid-format', { expected: 'key-name' })),
    sha256: z
      .string()
      .refine((text) => /^[0-9a-f]{64}$/i.test(text), because('invalid-format', { expected: 'key-digest' }))
      .optional(),
    expires: expiry.optional(),
    may: z.array(z.enum(permissions)).default([...permissions]),
    apps: z.array(whole).optional(),
    limits: limits.default({}),
  })
  .transform(
    ({ name, sha256, expires, may, apps, limits }): KeyEntry => ({
      name,
      digest: sha256 === undefined ? null : Buffer.from(sha256, 'hex'),
      expiresAt: expires ?? null,
      may: new Set(may),
      apps: apps ? new Set(apps) : null,
      limits,
    }),
  );

const fileSchema = z.strictObject({ keys: z.array(entrySchema) }).superRefine(({ keys }, context) => {
  for (const [index, { name }] of keys.entries()) {
    if (keys.findIndex((other) => other.name === name) < index)
      context.addIssue({ ...issueOf({ problem: 'duplicate' }), path: ['keys', index, 'name'] });
  }
});

/** Reads the text of a keys file. Throws `BadSettings` that names every entry there is something wrong with. */
export function parseKeysFile(text: string): KeyEntry[] {
  const document = parseDocument(text, { prettyErrors: false, schema: 'failsafe' });
  const [broken] = document.errors;
  // The message of a parser may quote the file.
  if (broken) throw new BadSettings(`API_KEYS_FILE is not YAML: ${broken.code} at character ${broken.pos[0] + 1}.`);
  const parsed = fileSchema.safeParse(withoutAliases(document));
  if (parsed.success) return parsed.data.keys;
  throw new BadSettings(
    `API_KEYS_FILE cannot be used: ${problemLines(problemsOf(parsed.error.issues).map(({ field, ...each }) => ({ ...each, field: field || 'the file' })))}.`,
  );
}

/** Aliases could expand a small file to a huge one. */
function withoutAliases(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    throw new BadSettings('API_KEYS_FILE must not use aliases: write each entry out.');
  }
}

export async function readKeysFile(path: string): Promise<string> {
  return readText(path).catch((error) => {
    throw new BadSettings(`API_KEYS_FILE cannot be read: ${error instanceof Error ? error.message : error}.`);
  });
}

type Watch = {
  path: string;
  known: string;
  onChange: (keys: KeyEntry[]) => void;
  onBad: (error: unknown) => void;
  onGood: () => void;
};

/**
 * Polls the file every second, because switched links and remote file systems cause no events. `onBad` is called once per fault, `onGood`
 * once it is valid again.
 */
export function watchKeysFile({ path, known, onChange, onBad, onGood }: Watch) {
  let last = known;
  let reported: string | undefined;
  const check = async () => {
    const text = await readKeysFile(path);
    if (text !== last) {
      last = text;
      onChange(parseKeysFile(text));
    }
    if (reported !== undefined) onGood();
    reported = undefined;
  };
  return every(POLL_MS, check, (error) => {
    if (reported === String(error)) return;
    reported = String(error);
    onBad(error);
  });
}
