#!/usr/bin/env node
// Plain JavaScript on purpose: an old Node must get as far as this sentence.
import { existsSync } from 'node:fs';

// The repository has sources, which Node runs as they are; a package has what was compiled from them.
const source = new URL('../src/main.ts', import.meta.url);
const isRepository = existsSync(source);
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 22)) {
  const wayOut = isRepository ? ', or run it through npm ("npm ci" brings its own Node, "npm start" uses it)' : '';
  console.error(`rule-server needs Node 22.22 or newer and found ${process.versions.node}: install one${wayOut}.`);
  process.exit(1);
}
// Each directory that hangs keeps two of libuv's threads busy, and by default there are four. Read when the first one is needed.
process.env.UV_THREADPOOL_SIZE ??= '64';
// Node keeps compiled code for the next start, and runs what it finds there. So the folder is the user's own: another user
// may write into the system's temporary folder, or into the HOME that sudo hands over.
const { enableCompileCache } = await import('node:module');
const { userInfo } = await import('node:os');
try {
  enableCompileCache(`${userInfo().homedir}/.cache/rule-server`);
} catch {
  // A user that the system does not know has no home: every start compiles.
}
const { main } = await import(isRepository ? source.href : '../dist/main.js');
await main(process.argv.slice(2));
