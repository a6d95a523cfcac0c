import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSettings, settingNames } from '../../src/shared/runtime/settings/settings.ts';

const document = readFileSync(join(import.meta.dirname, '../../docs/settings.md'), 'utf8');
const rows = [...document.matchAll(/^\| `([A-Z_]+)` \| ([^|]+) \| ([^|]+) \| [^|]+ \|$/gm)].map(
  ([, name = '', byDefault = '', type = '']) => ({ name, byDefault, type }),
);
const defaults = new Map<string, unknown>(Object.entries(readSettings({})));
/** It depends on the machine. */
const OF_THE_MACHINE = 'MAX_OPEN_BODY_BYTES';

describe('docs/settings.md', () => {
  it('has each setting of the program once, and no other', () => {
    expect(rows.map(({ name }) => name).sort()).toEqual(settingNames.toSorted());
  });

  it.each(rows.filter(({ name }) => name !== OF_THE_MACHINE))('says the default of $name', ({ name, byDefault }) => {
    expect(byDefault).toBe(shown(defaults.get(name)));
  });

  it.each(rows)('says the unit of $name as its name does', ({ name, type }) => {
    const unit = [...UNITS].find(([ending]) => name.endsWith(ending))?.[1];
    if (unit !== undefined) expect(type).toBe(unit);
  });
});

const UNITS = new Map([
  ['_MS', 'ms'],
  ['_BYTES', 'bytes'],
  ['_SECONDS', 's'],
  ['_FILE', 'file'],
]);

function shown(value: unknown): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return 'none'; // nothing at all, or nothing in it
}
