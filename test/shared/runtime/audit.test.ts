import { execFile } from 'node:child_process';
import { mkdtemp, readFile, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Audit, openAudit } from '../../../src/shared/runtime/access/audit.ts';
import { BadSettings } from '../../../src/shared/runtime/settings/settings.ts';

const run = promisify(execFile);
const SOURCE = new URL('../../../src/shared/runtime/access/audit.ts', import.meta.url).href;

describe('the audit log', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rule-server-audit-'));
  });

  it('is only added to: after somebody copied and truncated it, it goes on at its beginning', async () => {
    const path = join(directory, 'audit.jsonl');
    const audit = openAudit(path, unexpected);
    tell(audit, 'first');
    tell(audit, 'second');
    expect(whatIn(await readFile(path, 'utf8'))).toEqual(['first', 'second']);
    await truncate(path);
    tell(audit, 'third');
    audit.close();
    expect(whatIn(await readFile(path, 'utf8'))).toEqual(['third']);
  });

  it('takes no line once it is closed, and what tells one then goes on', async () => {
    const path = join(directory, 'closed.jsonl');
    const audit = openAudit(path, unexpected);
    tell(audit, 'first');
    audit.close();
    expect(() => tell(audit, 'late')).not.toThrow();
    expect(whatIn(await readFile(path, 'utf8'))).toEqual(['first']);
  });

  it.skipIf(process.platform !== 'linux')('that cannot be written is an error, and who tells it goes on', async () => {
    const errors: unknown[] = [];
    const audit = openAudit('/dev/full', (error) => errors.push(error));
    tell(audit, 'first');
    tell(audit, 'second');
    await expect.poll(() => errors.length, { timeout: 60_000 }).toBeGreaterThan(0);
    expect(String(errors[0])).toMatch(/ENOSPC/);
  });

  it.each(['missing/audit.jsonl', '.'])(
    'that can never be written (%s) ends the start, which names the setting',
    (path) => {
      const open = () => openAudit(join(directory, path), unexpected);
      expect(open).toThrow(BadSettings);
      expect(open).toThrow(/^AUDIT_LOG cannot be written: [^\n]*$/);
    },
  );

  it('goes to standard output for "-", each line with the member "audit"', async () => {
    const program = `const { openAudit } = await import(${JSON.stringify(SOURCE)});
      openAudit('-', console.error).tell({ what: 'run', who: 'ada', from: null, outcome: '200' });`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program]);
    expect(JSON.parse(stdout)).toEqual({
      audit: expect.stringMatching(/^\d{4}-/),
      ...{ what: 'run', who: 'ada', from: null, outcome: '200' },
    });
  });
});

const tell = (audit: Audit, what: string) => audit.tell({ what, who: null, from: null, outcome: '200' });

function whatIn(text: string): unknown[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line).what);
}

function unexpected(error: unknown): void {
  throw error;
}
