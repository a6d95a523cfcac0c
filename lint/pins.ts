// node lint/pins.ts: refuses actions without the hash of a commit, and images without a digest, that lint/unpinned.txt does not list.
// node lint/pins.ts write: asks GitHub and the registries for what is missing, and writes it into the files. What cannot be read is not
// written. To be run by a person where both can be reached; then the lines it has pinned leave lint/unpinned.txt.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const ROOT = join(import.meta.dirname, '..');
const LIST = 'lint/unpinned.txt';
const WORKFLOWS = '.github/workflows';
const FILES = [
  ...['docker-compose.yml', 'Dockerfile', 'deploy/helm/rule-server/values.yaml'],
  'test/support/choose-redis.ts',
];

const ACTION = /\buses: ([\w.-]+\/[\w./-]+)@([\w.-]+)/g;
const NAME = '[a-z0-9][\\w./-]*:[\\w.-]+';
/** Where an image is named: a field, a default of a variable, an argument of a build, a list. */
const IMAGES = [
  new RegExp(`\\bimage: (${NAME}(?:@sha256:[0-9a-f]{64})?)(?=\\s|$)`, 'g'),
  new RegExp(`_IMAGE:-(${NAME}(?:@sha256:[0-9a-f]{64})?)}`, 'g'),
  new RegExp(`_IMAGE=(${NAME}(?:@sha256:[0-9a-f]{64})?)`, 'g'),
  new RegExp(`'(${NAME}(?:@sha256:[0-9a-f]{64})?)'`, 'g'),
];
/** Built here, or a module of Node. */
const OWN = /^(rule-server[:/]|node:[a-z])/;

type Named = { kind: 'action' | 'image'; name: string; isPinned: boolean };
type File = { path: string; text: string };

/** Every action and image that a text names: `name` as it stands there. */
export function named(text: string): Named[] {
  const actions = [...text.matchAll(ACTION)].map(([, action = '', ref = '']) => ({
    kind: 'action' as const,
    name: `${action}@${ref}`,
    isPinned: /^[0-9a-f]{40}$/.test(ref),
  }));
  const images = IMAGES.flatMap((pattern) => [...text.matchAll(pattern)]).map(([, name = '']) => ({
    kind: 'image' as const,
    name,
    isPinned: name.includes('@sha256:'),
  }));
  return [...actions, ...images.filter(({ name }) => !OWN.test(name))];
}

/** One sentence for each name that is neither pinned nor listed, and for each that is listed and need not be. */
export function complaints(files: readonly File[], listed: readonly string[]): string[] {
  const unpinned = new Set(
    files.flatMap(({ text }) => named(text)).flatMap(({ name, isPinned }) => (isPinned ? [] : [name])),
  );
  const places = (name: string) => files.filter(({ text }) => text.includes(name)).map(({ path }) => path);
  return [
    ...[...unpinned]
      .filter((name) => !listed.includes(name))
      .map(
        (name) =>
          `${name} in ${places(name).join(', ')} is not pinned: run "node lint/pins.ts write" where its registry can be reached.`,
      ),
    ...listed
      .filter((name) => !unpinned.has(name))
      .map((name) => `${LIST} lists ${name}, which is pinned or gone: remove the line.`),
  ];
}

function readFiles(): File[] {
  const workflows = readdirSync(join(ROOT, WORKFLOWS)).map((name) => `${WORKFLOWS}/${name}`);
  return [...workflows, ...FILES].map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

async function writePins(): Promise<void> {
  const files = readFiles();
  const unpinned = files.flatMap(({ text }) => named(text)).filter(({ isPinned }) => !isPinned);
  for (const { kind, name } of new Map(unpinned.map((one) => [one.name, one])).values()) {
    const pinned = await (kind === 'action' ? pinnedAction(name) : pinnedImage(name)).catch((error) => {
      console.error(`${name} stays as it is: ${error.message}`);
      process.exitCode = 1;
    });
    if (pinned === undefined) continue;
    for (const file of files) file.text = file.text.replaceAll(name, pinned);
    console.log(`${name} is ${pinned}`);
  }
  for (const { path, text } of files) writeFileSync(join(ROOT, path), text);
}

/** The commit that a tag of an action stands for, with the tag behind it for whoever reads it. */
async function pinnedAction(name: string): Promise<string> {
  const [action = '', ref = ''] = name.split('@');
  const [owner = '', repository = ''] = action.split('/');
  const response = await fetch(`https://api.github.com/repos/${owner}/${repository}/commits/${ref}`);
  const { sha } = z.object({ sha: z.string().default('') }).parse(response.ok ? await response.json() : {});
  if (!/^[0-9a-f]{40}$/.test(sha)) throw new Error(`GitHub answers ${response.status}`);
  return `${action}@${sha} # ${ref}`;
}

const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
].join(', ');

/** The digest of an image of Docker Hub, for all platforms. */
async function pinnedImage(name: string): Promise<string> {
  const [repository = '', tag = ''] = name.split(':');
  const path = repository.includes('/') ? repository : `library/${repository}`;
  const scope = `service=registry.docker.io&scope=repository:${path}:pull`;
  const asked = await fetch(`https://auth.docker.io/token?${scope}`);
  const { token } = z.object({ token: z.string() }).parse(await asked.json());
  const response = await fetch(`https://registry-1.docker.io/v2/${path}/manifests/${tag}`, {
    method: 'HEAD',
    headers: { accept: MANIFESTS, authorization: `Bearer ${token}` },
  });
  const digest = response.headers.get('docker-content-digest') ?? '';
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`the registry answers ${response.status}`);
  return `${name}@${digest}`;
}

if (process.argv[1] === import.meta.filename) {
  if (process.argv[2] === 'write') await writePins();
  else {
    const listed = readFileSync(join(ROOT, LIST), 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    const found = complaints(readFiles(), listed);
    for (const complaint of found) console.error(complaint);
    if (found.length > 0) process.exitCode = 1;
    else console.log(`Every action and image is pinned, but ${listed.length} that wait for a person (${LIST}).`);
  }
}
