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

  it('each row of the tables of faults and threats has one', () => {
    expect(rows.length).toBeGreaterThan(60);
    const faults = [...read('docs/reliability.md').matchAll(/^\| ([^|]+) \|[^|]+\| `[\w-]+\.chaos\.ts`/gm)];
    const missing = faults.map(([, fault = '']) => fault).filter((fault) => !isCovered(fault));
    expect(missing).toEqual([]);
  });
});

/** Variants that only the full run measures are covered by the fault they are made of. */
function isCovered(fault: string): boolean {
  const isMix =
    /^(All of these at random|All faults in turn|One of (three|two) \w+ frozen|SIGKILL of a worker, at each)/;
  return isMix.test(fault) || rows.some(({ promise }) => fault.startsWith(promise) || promise.startsWith(fault));
}
