import { expect, it, vi } from 'vitest';

vi.mock('node:crypto', { spy: true });
// An earlier file of this test process may have loaded the keyring without the spy.
vi.resetModules();
const { timingSafeEqual } = await import('node:crypto');
const { createKeyring } = await import('../../../src/shared/runtime/access/keyring.ts');
const { digestOf } = await import('../../../src/shared/runtime/access/caller.ts');
const { parseKeysFile } = await import('../../../src/shared/runtime/access/keys-file.ts');

it('a key is compared with each one that is known, by digests and in constant time, also once it was found', () => {
  const names = ['first', 'second', 'third'];
  const keyring = createKeyring(new Map());
  const lines = names.map((name) => `  - { name: ${name}, sha256: ${digestOf(`the key of ${name}`).toString('hex')} }`);
  keyring.replace(parseKeysFile(`keys:\n${lines.join('\n')}`));
  for (const [key, kind] of [
    ['the key of first', 'known'],
    ['the key of nobody', 'unknown'],
    ['t', 'unknown'],
  ] as const) {
    vi.mocked(timingSafeEqual).mockClear();
    expect(keyring.find(key).kind).toBe(kind);
    const compared = vi.mocked(timingSafeEqual).mock.calls.map(([one, other]) => [one.byteLength, other.byteLength]);
    expect(compared).toEqual(names.map(() => [32, 32]));
  }
});
