import { createHash, timingSafeEqual } from 'node:crypto';

export type Keyring = ReturnType<typeof createKeyring>;

/** The API keys, by name. */
export function createKeyring(keys: ReadonlyMap<string, string>) {
  const digests = [...keys].map(([name, key]) => ({ name, digest: sha256(key) }));
  return {
    /** Without any key everybody may call. */
    isOpen: digests.length === 0,
    /** The name of a key, or undefined when it is not one of these. Takes the same time for all of them. */
    nameOf(key: string): string | undefined {
      const digest = sha256(key);
      return digests.filter((known) => timingSafeEqual(known.digest, digest)).at(0)?.name;
    },
    /** The key of an `Authorization: Bearer` header (RFC 6750). */
    bearerOf: (authorization: string | undefined) => /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1],
  };
}

/** Digests have one length, so the comparison tells nothing about a key, not even how long it is. */
function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
