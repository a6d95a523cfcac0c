import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
/** Lines are wrapped anywhere. */
const flat = (text: string) => text.replace(/\s+/g, ' ');

const promised = flat(`${read('docs/security.md')} ${read('docs/reliability.md')}`);
const rows = read('docs/threats.md')
  .split('\n')
  .flatMap((line) => {
    const [, promise, file, name] = /^\| (.+) \| `(.+\.ts)` \| (.+) \|$/.exec(line) ?? [];
    return promise && file && name ? [{ promise, file, name }] : [];
  });

describe('each promise stands beside its test', () => {
  it.each(rows)('$promise', ({ promise, file, name }) => {
    expect({ isPromised: promised.includes(promise) }).toEqual({ isPromised: true });
    expect({ isTested: read(join('test', file)).includes(name) }).toEqual({ isTested: true });
  });

  it('each row of a table in there has one', () => {
    expect(rows.length).toBeGreaterThan(160);
    const missing = tableRows.filter(
      (row) => !UNTESTED.test(row) && !rows.some(({ promise }) => row.includes(promise)),
    );
    expect(missing).toEqual([]);
  });
});

/** What the simulator searched is told by the simulator itself. */
function withoutSearches(text: string): string {
  return text.replaceAll(/<!-- simulate: \w+ -->[\s\S]*?<!-- end -->/g, '');
}

/** What each table says, without the rows of permissions: their own test reads them from the document. */
const tableRows = ['docs/security.md', 'docs/reliability.md'].flatMap((path) =>
  [...withoutSearches(read(path)).matchAll(/^\|(?: ?-+ ?\|)+\n((?:\|.*\n)+)/gm)]
    .flatMap(([, body = '']) => body.trim().split('\n'))
    .filter((row) => !/^\| `(GET|PUT|POST|DELETE) /.test(row)),
);
/** What others do or decide: what Redis does with its files, what people save, and a wait that is said to be longer. */
const UNTESTED = /^\| (Redis, its own files|shared directory, saved cases|an API's clock, ahead) \|/;
