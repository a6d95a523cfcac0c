// npm run lists: writes the lists of the documents that the code knows: defaults of settings and their names in the composition, the status
// of each code, the metrics, the public types of the client. What only a person can write (the row of a new setting or code) is asked for.
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { outcomes, statusOf } from '../src/shared/reasons/codes.ts';
import { endings, retryAfterOf } from '../src/shared/reasons/endings.ts';
import { problems } from '../src/shared/reasons/problems.ts';
import { withNames } from '../src/shared/reasons/template.ts';
import { readSettings, settingNames } from '../src/shared/runtime/settings/settings.ts';

process.chdir(join(import.meta.dirname, '..'));
const missing: string[] = [];
/** Settings with a meaning of its own in the composition: of Redis and of the shared directory it has its own. */
const OF_THE_COMPOSITION =
  /^(QUEUE_URL|REDIS_.*|SENTINEL_.*|SHARED_DIR|EMBEDDED_STORE|EMBEDDED_FLUSH|HOST|PORT|WORKER_PORT)$/;

edit('docs/run/settings.md', writeDefaults);
edit('docs/use/codes.md', writeStatuses);
edit('docs/use/codes.md', writeEndings);
edit('docs/use/codes.md', writeProblems);
edit('docs/run/metrics.md', writeMetrics);
edit('docker-compose.yml', writeComposition);
edit('packages/rule-server-client/api.txt', declarations);
for (const line of missing) console.error(line);
if (missing.length > 0) process.exitCode = 1;

function edit(path: string, change: (text: string) => string): void {
  const text = readFileSync(path, 'utf8');
  const changed = change(text);
  if (changed !== text) writeFileSync(path, changed);
}

function writeDefaults(text: string): string {
  const defaults = new Map<string, unknown>(Object.entries(readSettings({})));
  const ROW = /^\| `([A-Z_]+)` \| ([^|]+) \|/gm;
  wantRows(
    'docs/run/settings.md',
    settingNames,
    [...text.matchAll(ROW)].map(([, name = '']) => name),
  );
  return text.replace(ROW, (_, name, now) => `| \`${name}\` | ${defaultOf(defaults.get(name), name, now)} |`);
}

function defaultOf(value: unknown, name: string, now: string): string {
  if (name === 'MAX_OPEN_BODY_BYTES') return now; // depends on the memory of the machine
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'none';
}

function writeStatuses(text: string): string {
  const ROW = /^\| \d{3} \| `([\w-]+)` \|/gm;
  const statuses = new Map(Object.entries(outcomes).map(([code, { status }]) => [code, status]));
  wantRows(
    'docs/use/codes.md',
    [...statuses.keys()],
    [...text.matchAll(ROW)].map(([, code = '']) => code),
  );
  return text.replace(ROW, (row, code) => (statuses.has(code) ? `| ${statuses.get(code)} | \`${code}\` |` : row));
}

/** Each ending as it is sent. */
function writeEndings(text: string): string {
  const HEAD = '| Status | `code` | `reason` | `mayHaveRun` | `Retry-After` |\n|---|---|---|---|---|\n';
  const rows = Object.entries(endings).flatMap(([reason, { code, ran, text: told }]) =>
    (ran === 'either' ? [false, true] : [ran !== 'no']).map((mayHaveRun) => {
      const seconds = told.includes('{seconds}') ? '`params.seconds`' : retryAfterOf({ code, reason });
      return `| ${statusOf({ code, mayHaveRun })} | \`${code}\` | \`${reason}\` | ${mayHaveRun} | ${seconds ?? ''} |`;
    }),
  );
  return withTable('docs/use/codes.md', text, HEAD, rows.sort());
}

/** What `errors` may say of a field. */
function writeProblems(text: string): string {
  const rows = Object.entries(problems).map(
    ([code, template]) => `| \`${code}\` | ${withNames(template).replaceAll('|', '\\|')} |`,
  );
  return withTable(
    'docs/use/codes.md',
    text,
    '| `errors[].code` | After the name of the field |\n|---|---|\n',
    rows.sort(),
  );
}

function withTable(path: string, text: string, head: string, rows: readonly string[]): string {
  const begin = text.indexOf(head);
  if (begin < 0) missing.push(`${path}: there is no table with the head ${head.split('\n')[0]}`);
  if (begin < 0) return text;
  const end = begin + head.length;
  return `${text.slice(0, end)}${rows.join('\n')}\n${text.slice(end).replace(/^(\|.*\n)*/, '')}`;
}

function wantRows(path: string, wanted: readonly string[], rows: readonly string[]): void {
  for (const name of wanted) if (!rows.includes(name)) missing.push(`${path}: write a row for ${name}`);
  for (const name of rows) if (!wanted.includes(name)) missing.push(`${path}: ${name} does not exist, delete its row`);
}

function writeMetrics(text: string): string {
  const rows = globSync('src/{api,worker,shared}/**/*.ts').flatMap(metricsOf).sort();
  return withTable('docs/run/metrics.md', text, '| Metric | On | What |\n|---|---|---|\n', rows);
}

/** One row for each metric that a file makes: by prom-client, or by `metrics.gauge`, which adds the prefix. */
function metricsOf(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  const on = path.startsWith('src/api') ? 'API' : path.startsWith('src/worker') ? 'worker' : 'API, worker';
  const HELP = `(?:'([^']+)'|"([^"]+)"|help\\b)`;
  const made = new RegExp(
    `name: 'rule_server_(\\w+)',\\s*help: ${HELP},\\s*(?:labelNames: \\[([^\\]]*)\\])?|\\.gauge\\(\\s*'(\\w+)',\\s*${HELP}`,
    'g',
  );
  return [...text.matchAll(made)].map(([, name, one, two, labels = '', gauge, three, four]) => {
    const help = one ?? two ?? three ?? four ?? /const help =\s*'([^']+)'/.exec(text)?.[1];
    const shown = [...labels.matchAll(/'(\w+)'/g)].map(([, label]) => `${label}=…`).join(',');
    return `| \`rule_server_${name ?? gauge}${shown && `{${shown}}`}\` | ${on} | ${help} |`;
  });
}

function writeComposition(text: string): string {
  const [, block = ''] = /\nx-settings: &settings\n([\s\S]*?)\n\n/.exec(text) ?? [];
  const passed = new Set([...block.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name]) => name));
  const absent = settingNames.filter((name) => !OF_THE_COMPOSITION.test(name) && !passed.has(name));
  return text.replace(block, [block, ...absent.map((name) => `  ${name}:`)].join('\n'));
}

/** The declarations that somebody who imports the package can see, file by file, without comments: a change there is one for its users. */
function declarations(): string {
  const folder = mkdtempSync(join(tmpdir(), 'client-api-'));
  try {
    const options = ['-p', 'tsconfig.client.json', '--outDir', folder, '--emitDeclarationOnly', '--removeComments'];
    execFileSync('node_modules/.bin/tsc', options, { stdio: 'inherit' });
    const texts = new Map<string, string>();
    const next = ['client', 'anywhere', 'testing', 'http'].map((name) => join(folder, `client/${name}.d.ts`));
    for (const path of next) {
      const name = relative(folder, path);
      // The OpenAPI document describes what the service answers.
      if (texts.has(name) || name.startsWith('shared/contract/execution')) continue;
      const text = readFileSync(path, 'utf8');
      texts.set(name, text.replace(/^import .* from '\.[^']*';\n/gm, '').trim());
      for (const [, from = ''] of text.matchAll(/from '(\.[^']+)'/g))
        next.push(resolve(dirname(path), from.replace(/\.(ts|js)$/, '.d.ts')));
    }
    return [...texts]
      .map(([name, text]) => `// ${basename(name)}\n${text}\n`)
      .toSorted()
      .join('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
