import { join } from 'node:path';
import { run } from './run.ts';
import type { Sdk, Toolchain } from './sdk.ts';

const sources = join(import.meta.dirname, 'java');

/** The Java SDK from Maven Central; jars and classes end up in the build's folder, downloads in Maven's own repository. */
export const javaSdk: Sdk = {
  name: 'java',
  artifact: 'com.waitmoon.ice:ice-core',
  sources,
  findToolchain,
  fetch: (home) => maven('dependency:copy-dependencies', home),
  build: (home) => maven('compile', home),
  launch: (home) => ({
    file: 'java',
    args: ['-Xmx256m', '-cp', `${join(home, 'classes')}:${join(home, 'lib')}/*`, 'com.sample.Host'],
  }),
  saysAbsent: /Could not find artifact com\.waitmoon\.ice:/,
};

async function maven(goal: string, home: string): Promise<void> {
  // --update-snapshots: Maven otherwise remembers for a day that an artifact was missing.
  const args = [
    '--batch-mode',
    '--quiet',
    '--update-snapshots',
    '--file',
    join(sources, 'pom.xml'),
    `-Dbuild.home=${home}`,
    goal,
  ];
  await run('mvn', args, { timeoutMs: 600_000 });
}

async function findToolchain(): Promise<Toolchain> {
  const javac = await run('javac', ['-version'], { timeoutMs: 20_000 }).catch(() => '');
  const version = /javac (\d+)\S*/.exec(javac);
  if (Number(version?.[1] ?? 0) < 11) {
    return { kind: 'missing', reason: 'No JDK 11 or later (Debian: apt install default-jdk-headless).' };
  }
  const mvn = await run('mvn', ['--version'], { timeoutMs: 20_000 }).catch(() => '');
  if (mvn === '') return { kind: 'missing', reason: 'No Maven (Debian: apt install maven).' };
  return { kind: 'found', command: 'mvn', version: version?.[0] ?? '' };
}
