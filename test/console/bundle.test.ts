import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { CONSOLE_DIRECTORY, readConsoleFiles } from '../../src/api/console-files.ts';

const run = promisify(execFile);
const KIB = 1024;

describe('what the console costs to load', () => {
  let files: ReturnType<typeof readConsoleFiles>;
  const textOf = (path: string) => new TextDecoder().decode(files.get(path)?.body);
  /** The files that the page names itself; everything else is fetched when it is wanted. */
  const initial = () => [...textOf('/').matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path);

  beforeAll(async () => {
    await run(process.execPath, [join(import.meta.dirname, '../../bin/build-console.js'), '--when-needed']);
    files = readConsoleFiles(CONSOLE_DIRECTORY);
  });

  test('at most 149 KiB of script at first, zipped', () => {
    const scripts = initial().filter((path) => path.endsWith('.js'));
    expect(scripts.length).toBeGreaterThan(0);
    const zipped = scripts.reduce((sum, path) => sum + gzipSync(files.get(path)?.body ?? new Uint8Array()).length, 0);
    expect(zipped).toBeLessThanOrEqual(149 * KIB);
  });

  test('at most seven requests for the first picture, one of which asks for the rule early, each for a file that is there', () => {
    expect(initial().length).toBeLessThanOrEqual(7);
    for (const path of initial()) expect(files.has(path), path).toBe(true);
  });

  test('nothing that the page fetches checks answers with Zod: their shapes come from the contract when it is built', () => {
    for (const path of files.keys()) if (path.endsWith('.js')) expect(textOf(path), path).not.toContain('ZodObject');
  });

  test('the editor and the other language are not among them', () => {
    const lazy = [...files.keys()].filter((path) => path.endsWith('.js') && !initial().includes(path));
    expect(lazy.some((path) => path.includes('json-editor'))).toBe(true);
    expect(lazy.some((path) => path.includes('zh-'))).toBe(true);
  });

  test('nothing comes from another host', () => {
    for (const path of files.keys()) {
      if (path.endsWith('.svg')) continue;
      expect(textOf(path), path).not.toMatch(
        /(?:src|href)=["'](?:https?:)?\/\/|url\(["']?(?:https?:)?\/\/|@import\s+["'](?:https?:)?\/\//,
      );
    }
  });

  test('what has its digest in its name is kept for good, the page itself is asked for again', () => {
    for (const [path, { headers }] of files) {
      expect(headers['cache-control'], path).toBe(
        path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      );
    }
  });
});
