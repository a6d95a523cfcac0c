import { describe, expect, it } from 'vitest';
import {
  isOurFile,
  isPlainName,
  isSegment,
  openExecutionOf,
  openFileName,
  readFileName,
  requestFileName,
  resultFileName,
  temporaryFileName,
  withdrawnFileName,
} from '../../../src/worker/files/file-names.ts';

const mockId = '7f3a5c1e-0000-4000-8000-000000000001';

describe('file names', () => {
  it('all that we write are known as ours, so that the sweep finds them', () => {
    const names = [requestFileName, resultFileName, openFileName, withdrawnFileName].map((name) => name(mockId));
    names.push(
      temporaryFileName(mockId, 'a1b2c3d4'),
      `${mockId}_result.json.tmp`,
      `.${mockId}_result.json.0a1b2c3d.tmp`,
    );
    expect(names.filter((name) => !isOurFile(name))).toEqual([]);
  });

  it.each([
    'notes.json',
    '.keep',
    `${mockId}.json.bak`,
    `x${mockId}.json`,
    `${mockId.toUpperCase()}.json`,
    `${mockId}_result.txt`,
    `.${mockId}`,
    `.${mockId}.lock`,
    '.made-by-rule-server',
    '',
  ])('%s is somebody else’s', (name) => {
    expect(isOurFile(name)).toBe(false);
  });

  it('no client takes what we have not dispatched: it ends neither in .json nor looks like it', () => {
    for (const name of [temporaryFileName(mockId, 'a1'), withdrawnFileName(mockId), openFileName(mockId)]) {
      expect(name).toMatch(/^\./);
      expect(name).not.toContain('.json');
    }
  });

  it('a request and a result are told apart', () => {
    expect(readFileName(requestFileName(mockId))).toEqual({ mockId, kind: 'request' });
    expect(readFileName(resultFileName(mockId))).toEqual({ mockId, kind: 'result' });
    expect(readFileName(`${mockId}_result.json.tmp`)).toBeUndefined();
    expect(readFileName(temporaryFileName(mockId, 'a1'))).toBeUndefined();
  });

  it('an execution is open while its request or its mark is there', () => {
    expect([requestFileName(mockId), openFileName(mockId)].map(openExecutionOf)).toEqual([mockId, mockId]);
    expect([resultFileName(mockId), withdrawnFileName(mockId), '.x.open'].map(openExecutionOf)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it.each(['host_a1', '10.0.0.1', 'a b', 'ü', 'a'.repeat(200), '-', 'a:b', '~', '$(x)'])(
    '%s can be an address',
    (name) => {
      expect(isPlainName(name)).toBe(true);
    },
  );

  it.each([
    '',
    '.',
    '..',
    '.hidden',
    'a/b',
    'a\\b',
    'a..b',
    'a\u0000',
    'a\n',
    '\u007f',
    'a'.repeat(201),
    'é'.repeat(101),
  ])('%j cannot be an address without a registration', (name) => {
    expect(isPlainName(name)).toBe(false);
  });

  it.each(['', '.', '..', '.x', 'a/b', '/', 'a\u0000', 'a'.repeat(241)])('%j can be no directory at all', (name) => {
    expect(isSegment(name)).toBe(false);
  });
});
