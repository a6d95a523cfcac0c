import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkOutput, findLeaks, INPUT_MARKER } from '../support/written-output.ts';

describe('the check of everything that services write', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rule-server-output-'));
    writeFileSync(join(directory, 'noted-1'), `${JSON.stringify('a "key" of 0123456789')}\n`);
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('finds nothing where nothing was written that must not be', () => {
    writeFileSync(join(directory, '7.log'), '{"level":30,"msg":"answered"}\n');
    expect(findLeaks(directory)).toEqual([]);
    checkOutput(directory);
  });

  it.each([
    ['a secret', 'it used a "key" of 0123456789\n'],
    ['a secret inside a JSON string', `${JSON.stringify({ msg: 'a "key" of 0123456789' })}\n`],
    ['an input', `{"level":30,"msg":"x","args":["${INPUT_MARKER}1-0"]}\n`],
  ])('sees %s, whichever process wrote it', (_, line) => {
    writeFileSync(join(directory, '7.log'), '{"level":30}\n');
    writeFileSync(join(directory, '8.log'), `{"level":30}\n${line}`);
    expect(findLeaks(directory)).toEqual([expect.stringMatching(/^8\.log: /)]);
    const exitCode = process.exitCode;
    expect(() => checkOutput(directory)).toThrow('A service wrote what it must not');
    expect(process.exitCode).toBe(1);
    process.exitCode = exitCode;
  });
});
