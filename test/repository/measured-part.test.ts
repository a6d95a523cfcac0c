import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withMeasured } from '../chaos/measured-part.ts';

const document = readFileSync(join(import.meta.dirname, '../../docs/reliability.md'), 'utf8');

it.each(['faults', 'loads'])(
  'a full run of the faults replaces the measured %s of the document and nothing else',
  (part) => {
    const changed = withMeasured(document, part, 'as measured today');
    expect(changed).toContain('as measured today');
    const outside = (text: string) => text.replace(/(<!-- measured: (\w+) -->)[\s\S]*?(<!-- end of \2 -->)/g, '$1$3');
    expect(outside(changed)).toBe(outside(document));
    expect(outside(document)).toContain('## When a clock is wrong');
    expect(withMeasured(changed, part, 'tomorrow')).not.toContain('as measured today');
  },
);

it('a run of the bench replaces what it says about scaling, and nothing else', () => {
  const scaling = readFileSync(join(import.meta.dirname, '../../docs/scaling.md'), 'utf8');
  const changed = withMeasured(scaling, 'scaling', '| a table |');
  expect(changed.split('\n').slice(0, 10)).toEqual(scaling.split('\n').slice(0, 10));
  expect(changed).toMatch(/\| a table \|\n\n<!-- end of scaling -->[\s\S]*## How it is measured/);
  expect(changed).not.toContain('**What a rate takes**');
});

it('a document without that part is not written', () => {
  expect(() => withMeasured('# Something else', 'faults', 'x')).toThrow('does not have one part "faults"');
});
