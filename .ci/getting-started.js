// Pastes a page of docs, docs/start.md if none is named, into a shell, in a fresh clone: each block of commands must end well and
// print what the page says it prints. Says how long each step took. Only the ports are others than on the page. Where a page does not install the
// packages, the clone has those of this checkout.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const LIMIT_MS = 360_000;

const page = readFileSync(join(ROOT, process.argv[2] ?? 'docs/start.md'), 'utf8');
const work = mkdtempSync(join(tmpdir(), 'getting-started-'));

/** The steps of the page in their order: the heading they stand below, the commands, and the lines they are to print. */
function stepsOf(text) {
  const steps = [];
  let heading = '';
  for (const [, title, language, body] of text.matchAll(/^## (.*)$|^```(sh|text)\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    else if (language === 'sh') steps.push({ heading, commands: body, lines: [] });
    else steps.at(-1).lines.push(...body.trimEnd().split('\n'));
  }
  return steps;
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(String(port)));
    });
  });
}

/** One shell for all of it, as a person has; what a step leaves behind in the background is ended with the shell. */
function scriptOf(steps, ports) {
  const blocks = steps.map(
    ({ commands }, index) =>
      `echo "$EPOCHREALTIME" > ${work}/${index}.began\n{\n${commands}} > ${work}/${index}.said 2>&1\n`,
  );
  const end = `for group in $(jobs -p); do kill -- -"$group" 2>/dev/null; done; wait`;
  let script = `set -em\ntrap '${end}' EXIT\n${blocks.join('')}echo "$EPOCHREALTIME" > ${work}/${steps.length}.began\n`;
  for (const [port, free] of ports) script = script.replaceAll(port, free);
  return script;
}

const read = (name) => {
  try {
    return readFileSync(join(work, name), 'utf8');
  } catch {
    return '';
  }
};

/** The first line that is to be printed and is not, behind those before it. */
function missing(said, lines) {
  let from = 0;
  for (const line of lines) {
    const at = said.indexOf(line.trim(), from);
    if (at < 0) return line;
    from = at + line.trim().length;
  }
  return undefined;
}

function report(steps, code) {
  for (const [index, { heading, commands, lines }] of steps.entries()) {
    const began = Number(read(`${index}.began`));
    const ended = Number(read(`${index + 1}.began`));
    const lacks = missing(read(`${index}.said`), lines);
    if (ended && lacks === undefined) {
      const [first] = commands.split('\n');
      console.log(`${(ended - began).toFixed(1).padStart(6)} s  ${heading}: ${first.slice(0, 70)}`);
      continue;
    }
    console.log(`✗ ${heading}\n${commands}\n${read(`${index}.said`)}`);
    console.log(ended ? `It did not print: ${lacks}` : `It did not end well (exit code ${code}).`);
    return false;
  }
  return true;
}

const steps = stepsOf(page);
execFileSync('git', ['clone', '--quiet', ROOT, join(work, 'rule-server')]);
if (!page.includes('\nnpm ci\n')) symlinkSync(join(ROOT, 'node_modules'), join(work, 'rule-server/node_modules'));
const began = performance.now();
const { REDIS_URL: _, QUEUE_URL: __, SHARED_DIR: ___, ...environment } = process.env;
const ports = new Map([
  ['8080', await freePort()],
  ['6399', await freePort()],
]);
const port = ports.get('8080');
const shell = spawn('bash', ['-c', scriptOf(steps, ports)], {
  cwd: join(work, 'rule-server'),
  env: {
    ...environment,
    PORT: port,
    RULE_SERVER_URL: `http://127.0.0.1:${port}`,
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
  },
  stdio: 'inherit',
});
const tooLong = setTimeout(() => shell.kill('SIGTERM'), LIMIT_MS);
shell.on('exit', (code) => {
  clearTimeout(tooLong);
  const passed = report(steps, code);
  console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  in all`);
  rmSync(work, { recursive: true, force: true });
  console.log(passed ? `${steps.length} passed, 0 failed` : '0 passed, 1 failed');
  process.exit(passed ? 0 : 1);
});
