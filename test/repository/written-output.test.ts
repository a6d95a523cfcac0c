import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkOutput, findLeaks, INPUT_MARKER, noteInputsIn } from '../support/written-output.ts';

describe('the check of everything that services write', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rule-server-output-'));
    const noted = ['a "key" of 0123456789', 'Müller', 'outcome-unknown'];
    writeFileSync(join(directory, 'noted-1'), noted.map((text) => `${JSON.stringify(text)}\n`).join(''));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('finds nothing where nothing was written that must not be', () => {
    writeFileSync(join(directory, '7.log'), '{"level":30,"msg":"answered","code":"outcome-unknown"}\n');
    expect(findLeaks(directory)).toEqual([]);
    checkOutput(directory);
  });

  it.each([
    ['a text of an input', 'Müller', true],
    ['one that stands in a log by chance', 'a-12z', false],
    ['what may be a part of an id', '5f3a9c27-b1d', false],
    ['a long number', '9007199254740881', true],
    ['padding', 'xxxxxxxxxxxx', false],
  ])('looks for %s: %s', (_, text, isLookedFor) => {
    vi.stubEnv('RULE_SERVER_TEST_OUTPUT', directory);
    noteInputsIn(JSON.stringify({ app: 1, 'the service': { of: [text] } }));
    vi.unstubAllEnvs();
    writeFileSync(join(directory, '7.log'), `{"msg":"${text}"}\n`);
    expect(findLeaks(directory)).toHaveLength(isLookedFor ? 1 : 0);
  });

  it.each([
    ['a secret', 'it used a "key" of 0123456789\n'],
    ['a secret inside a JSON string', `${JSON.stringify({ msg: 'a "key" of 0123456789' })}\n`],
    ['a short text of an input', '{"level":50,"msg":"bad: Müller"}\n'],
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
