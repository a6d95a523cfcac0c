import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './run.ts';
import type { Sdk, Toolchain } from './sdk.ts';

const sources = join(import.meta.dirname, 'go');
const env = {
  CGO_ENABLED: '0',
  // A module that wants a newer Go than the installed one gets it from the proxy, unless the environment forbids it.
  GOTOOLCHAIN: process.env.GOTOOLCHAIN ?? 'auto',
};

/** The Go SDK from the module proxy. The checksums go.sum would hold are written beside the build, checked by sum.golang.org. */
export const goSdk: Sdk = {
  name: 'go',
  artifact: 'github.com/zjn-zjn/ice/sdks/go',
  sources,
  findToolchain,
  async fetch(home) {
    await copyFile(join(sources, 'go.mod'), modfile(home));
    await run('go', ['mod', 'download', `-modfile=${modfile(home)}`], { timeoutMs: 300_000, cwd: sources, env });
  },
  // Built where the sources are: at run time the SDK reads them there to learn which keys a leaf uses.
  async build(home) {
    const args = ['build', '-mod=mod', `-modfile=${modfile(home)}`, '-buildvcs=false', '-o', binary(home), '.'];
    await run('go', args, { timeoutMs: 600_000, cwd: sources, env });
  },
  launch: (home) => ({ file: binary(home), args: [] }),
  saysAbsent: /zjn-zjn\/ice\/sdks\/go\b.*(?:403 Forbidden|404 Not Found|410 Gone|unknown revision)/,
};

const modfile = (home: string) => join(home, 'go.mod');
const binary = (home: string) => join(home, 'host');

async function findToolchain(): Promise<Toolchain> {
  const output = await run('go', ['version'], { timeoutMs: 20_000, env }).catch(() => '');
  const version = /go1\.(\d+)\S*/.exec(output);
  if (Number(version?.[1] ?? 0) < 21) {
    return { kind: 'missing', reason: 'No Go 1.21 or later (Debian 13 or later: apt install golang).' };
  }
  return { kind: 'found', command: 'go', version: version?.[0] ?? '' };
}
