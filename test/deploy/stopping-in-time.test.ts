import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

it('the example settings for systemd let an API say that it stops before it refuses', () => {
  expect(read('deploy/systemd/settings.example')).toMatch(/^SHUTDOWN_DELAY_MS=5000$/m);
});
