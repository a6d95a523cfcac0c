#!/usr/bin/env node
// Plain JavaScript on purpose: an old Node must get as far as this sentence.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 22)) {
  console.error(`rule-server needs Node 22.22 or newer and found ${process.versions.node}: install one.`);
  process.exit(1);
}
const { main } = await import('../dist/command-line.js');
await main(process.argv.slice(2));
