import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
/** A metric is made with its whole name, or by `metrics.gauge`, which puts the prefix before it. */
const MADE = /name: '(rule_server_\w+)',\s*help|\.gauge\(\s*'(\w+)'/g;

/** `metric file`, for each metric of the code. */
const made = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => join(entry.parentPath, entry.name))
  .flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(MADE)].map(
      ([, whole, gauge]) => `${whole ?? `rule_server_${gauge}`} ${path.slice(ROOT.length + 1)}`,
    ),
  );

it('the table of all metrics names each one, and the file that counts it', () => {
  const document = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const table = document.slice(document.indexOf('### All metrics'));
  const told = [...table.matchAll(/^\| `(\w+)(?:\{.*\})?` \| .* \| `(src\/[^`]+)` \|$/gm)].map(
    ([, name, file]) => `${name} ${file}`,
  );
  expect(told.toSorted()).toEqual(made.toSorted());
});
