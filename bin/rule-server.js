#!/usr/bin/env node
// Plain JavaScript on purpose: an old Node must get as far as this sentence.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 22)) {
  console.error(
    `rule-server needs Node 22.22 or newer and found ${process.versions.node}: install one, or run it through npm ("npm ci" brings its own Node, "npm start" uses it).`,
  );
  process.exit(1);
}
const { main } = await import('../src/main.ts');
await main(process.argv.slice(2));
