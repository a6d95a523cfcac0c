import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { runCliWith } from '../support/run-cli.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'encodings-'));
});

/** What a command says that reads these bytes, from a file (`@`) or standard input (`-`). No service is there: nothing may be asked of one. */
async function said(parameters: string[], bytes: Buffer): Promise<{ exitCode: number; error: string }> {
  const path = join(folder, 'given');
  await writeFile(path, bytes);
  const line = parameters.map((parameter) => parameter.replace('FILE', path));
  const { code, err } = await runCliWith({ stdin: bytes }, ...line);
  return { exitCode: code, error: err.replaceAll(path, 'FILE') };
}

const latin1 = (value: string) => Buffer.from(value, 'latin1');
const url = ['--url', 'http://127.0.0.1:1'];

test.each([
  ['--csv', ['batch', '--app', '1', '--rule-id', '1', '--csv', 'FILE', ...url], '--csv FILE'],
  ['--data @', ['exec', '--app', '1', '--rule-id', '1', '--data', '@FILE', ...url], '--data @FILE'],
  ['--data -', ['exec', '--app', '1', '--rule-id', '1', '--data', '-', ...url], '--data -'],
  ['a file of cases', ['test', 'FILE', ...url], 'FILE'],
  ['cases that are pushed', ['cases', 'push', 'FILE', ...url], 'FILE'],
])('%s that is not UTF-8 is refused, with its line and byte', async (_, parameters, what) => {
  const bytes = latin1('uid,city\n1,K\xf6ln\n');
  expect(await said(parameters, bytes)).toEqual({
    exitCode: 2,
    error: expect.stringContaining(
      `${what} cannot be read: it is not valid UTF-8: byte 4 of line 2 is 0xf6 (save it as UTF-8)`,
    ),
  });
});

test.each([
  ['with a mark', Buffer.from('\ufeffuid\n1\n', 'utf16le')],
  ['without a mark', Buffer.from('uid\n1\n', 'utf16le')],
])('UTF-16 %s is called by its name', async (_, bytes) => {
  const { error } = await said(['batch', '--app', '1', '--rule-id', '1', '--csv', 'FILE', ...url], bytes);
  expect(error).toContain('--csv FILE cannot be read: it is UTF-16, not UTF-8 (save it as UTF-8)');
});

test('a byte order mark before UTF-8 is no part of the input', async () => {
  const { error } = await said(
    ['exec', '--app', '1', '--rule-id', '1', '--data', '@FILE', ...url],
    Buffer.from('\ufeff{"city":"K\u00f6ln"}'),
  );
  expect(error).not.toContain('--data');
});

test.each([
  [['exec', '--app', '1', '--rule-id', '1', '--data', '{"city":"K\ufffdln"}', ...url], 'Argument 7 (after --data)'],
  [['history', '--text=K\ufffdln', ...url], 'Argument 2'],
  [['test', 'K\ufffdln.yaml', ...url], 'Argument 2'],
])('an argument that Node could not decode is refused before it runs: %j', async (parameters, what) => {
  expect(await said(parameters, Buffer.of())).toEqual({
    exitCode: 2,
    error: expect.stringContaining(`${what} is not valid UTF-8`),
  });
});

test('a word of the command line that is not known is repeated with its unseen characters as escapes', async () => {
  const { error } = await said(['history', '--limit\u200b', '1'], Buffer.of());
  expect(error).toContain("unknown option '--limit\\u200b'");
});
