import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentsIn } from '../../bin/documents.js';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
});
/** What git knows or would take, as far as it is there: a file may just have been moved. */
const files = listed.split('\n').filter((path) => path !== '' && existsSync(join(ROOT, path)));
const isBinary = (path: string) => /\.(?:png|svg|ico|woff2?)$/.test(path);
const HERE = 'test/repository/names-in-documents.test.ts';
/** Everything that is not a document: the names in documents must occur here, or as the path of a file. */
const written = [
  ...files.filter((path) => !path.endsWith('.md') && !isBinary(path) && path !== HERE).map(read),
  ...files,
].join('\n');

/** The changelog tells of names that are gone. The others are made by a command. */
const documents = (await documentsIn(ROOT)).filter(
  (path) => !['CHANGELOG.md', 'docs/client-api.md', 'docs/analyzer.md'].includes(path),
);

/** Names of other programs, numbers as other languages write them, and files that a command of the document makes. */
const OF_OTHERS = [
  'EBADENGINE',
  'X-Forwarded-For',
  'fs.watch',
  'performance.nl-cache',
  'OnModuleDestroy',
  'storagePath',
  'iceLogName',
  'LNG',
  'lng',
  '1.0E21',
  'release.xml',
  // Settings of the Helm chart, which has each part of the name on a line of its own.
  'worker.keda.serverAddress',
  'metrics.serviceMonitor.enabled',
  // Made of the name of a member and `Size`.
  'beforeSize',
  // A state of the diagram that no code has a name for.
  'answeredLate',
];

/** The files that name the commands; the services themselves are named in none of them. */
const COMMANDS = ['program.ts', 'commands.ts', 'cases/commands.ts', 'operating/key-commands.ts'].map(
  (name) => `src/cli/${name}`,
);

/** Names that are written in parts: a folder of the shared directory, a prefix of metrics, a member of a member. */
const partsOf = (name: string): string[] =>
  name
    .replace(/^SHARED_DIR\//, '')
    .replace(/^rule_server_/, '')
    .split(/[/.]/)
    .filter((part) => part !== '');

const isPath = (name: string) => files.some((file) => file.startsWith(name));
const isNamed = (name: string) => written.includes(name) || partsOf(name).every((part) => written.includes(part));

describe.each(documents)('%s', (path) => {
  const text = read(path);

  it('names in code type what is there', () => {
    const prose = text.replace(/^```[\s\S]*?^```$/gm, '');
    const names = [...prose.matchAll(/`([\w./@-]{3,})`/g)].map(([, name = '']) => name);
    const missing = names.filter((name) => !/^[\d.]+$/.test(name) && !OF_OTHERS.includes(name) && !isNamed(name));
    expect([...new Set(missing)]).toEqual([]);
  });

  it('names paths of the repository that are there', () => {
    const paths = [
      ...text.matchAll(/(?<![\w./-])((?:src|test|bench|deploy|docs|examples|lint|bin|\.ci)\/[\w./-]*\w)/g),
    ];
    const missing = paths.map(([, name = '']) => name).filter((name) => !isPath(name) && !isPath(`test/${name}`));
    expect([...new Set(missing)]).toEqual([]);
  });

  it('names scripts of npm and commands of rule-server that are there', () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));
    const ofNpm = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);
    expect(ofNpm.filter((name) => scripts[name] === undefined)).toEqual([]);
    const commands = [...text.matchAll(/`(?:npx )?rule-server ([a-z][\w-]*)|npx rule-server ([a-z][\w-]*)/g)];
    const known = COMMANDS.flatMap((file) => [...read(file).matchAll(/\.command\('([\w-]+)/g)].map(([, name]) => name));
    known.push('api', 'worker', 'all', 'demo-client');
    expect(commands.map(([, one, other]) => one ?? other).filter((name) => !known.includes(name))).toEqual([]);
  });

  it('names settings that are there', () => {
    const settings = [...text.matchAll(/(?<![\w-])([A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)(?:=|`)/g)].map(
      ([, name = '']) => name,
    );
    expect([...new Set(settings.filter((name) => !written.includes(name)))]).toEqual([]);
  });
});

it('a name that nothing has is found', () => {
  expect(isNamed('rule_server_no_such_metric')).toBe(false);
  expect(isNamed('src/worker/no-such-file.ts')).toBe(false);
});
