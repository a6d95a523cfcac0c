import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
);

it.each(['start', 'api'])('npm run %s builds the console first, when it is not built', (name) => {
  expect(scripts[`pre${name}`]).toBe('node bin/build-console.js --when-needed');
});

it.each(['start', 'api', 'worker'])('npm run %s becomes the service, so that a signal to npm reaches it', (name) => {
  expect(scripts[name]).toMatch(/^exec node /);
});
