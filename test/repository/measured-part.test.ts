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

it('a document without that part is not written', () => {
  expect(() => withMeasured('# Something else', 'faults', 'x')).toThrow('does not have one part "faults"');
});
