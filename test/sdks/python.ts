import { join } from 'node:path';
import { run } from './run.ts';
import type { Sdk, Toolchain } from './sdk.ts';

const sources = join(import.meta.dirname, 'python');
const python = (home: string) => join(home, 'venv', 'bin', 'python');

/** The Python SDK in a virtual environment of its own; the host runs from its sources. */
export const pythonSdk: Sdk = {
  name: 'python',
  artifact: 'ice-rules',
  sources,
  findToolchain,
  async fetch(home, { command }) {
    await run(command, ['-m', 'venv', join(home, 'venv')], { timeoutMs: 120_000 });
    const install = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check'];
    await run(python(home), [...install, '-r', join(sources, 'requirements.txt')], { timeoutMs: 300_000 });
  },
  async build() {},
  // -B: nothing is compiled into the source folder.
  launch: (home) => ({ file: python(home), args: ['-B', join(sources, 'host.py')] }),
  saysAbsent: /No matching distribution found for ice-rules/,
};

async function findToolchain(): Promise<Toolchain> {
  const question = 'import sys, venv, ensurepip; print("%d.%d.%d" % sys.version_info[:3])';
  for (const command of ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11']) {
    const version = await run(command, ['-c', question], { timeoutMs: 20_000 }).catch(() => '');
    const [major = 0, minor = 0] = version.split('.').map(Number);
    if (major === 3 && minor >= 11) return { kind: 'found', command, version: version.trim() };
  }
  return { kind: 'missing', reason: 'No Python 3.11 or later with venv and pip (Debian: apt install python3-venv).' };
}
