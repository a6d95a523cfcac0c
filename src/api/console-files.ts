import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** A built file of the console, or a document beside it, with the headers it is served with, and the same file compressed when it was built. */
export type ConsoleFile = {
  body: Uint8Array<ArrayBuffer>;
  headers: Record<string, string>;
  compressed: { encoding: 'br' | 'gzip'; body: Uint8Array<ArrayBuffer> }[];
};

export const CONSOLE_DIRECTORY = join(import.meta.dirname, '../../dist/console');

const TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.md', 'text/markdown; charset=utf-8'],
  ['.txt', 'text/plain; charset=utf-8'],
]);
/** Smallest first: the first encoding that a browser takes is sent. */
const ENCODINGS = [
  { extension: '.br', encoding: 'br' },
  { extension: '.gz', encoding: 'gzip' },
] as const;

/** The console's files by path, read once: `/` is its page. Empty when it has not been built. */
export function readConsoleFiles(directory: string): ReadonlyMap<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>();
  const names = new Set(namesIn(directory));
  const read = (name: string) => new Uint8Array(readFileSync(join(directory, name)));
  for (const name of new Set([...names].map((each) => each.replace(/\.gz$/, '')))) {
    const type = TYPES.get(extname(name));
    if (type === undefined) continue;
    const path = `/${name.replaceAll('\\', '/')}`;
    files.set(path === '/index.html' ? '/' : path, {
      // The package has its scripts and styles compressed alone.
      body: names.has(name) ? read(name) : new Uint8Array(gunzipSync(read(`${name}.gz`))),
      headers: { 'content-type': type, 'cache-control': cachingOf(path), 'x-content-type-options': 'nosniff' },
      compressed: ENCODINGS.flatMap(({ extension, encoding }) =>
        names.has(name + extension) ? [{ encoding, body: read(name + extension) }] : [],
      ),
    });
  }
  return files;
}

/** A name in `assets` has its content's digest in it; everything else is asked for again. */
function cachingOf(path: string): string {
  return path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' });
  } catch {
    return []; // not built
  }
}
