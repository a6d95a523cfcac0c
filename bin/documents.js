// The documents as a running API serves them, for programs that read: the Markdown files at their paths, and /llms.txt, which lists them
// (https://llmstxt.org).
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The first documents are the ones to read first. */
const FIRST = ['README.md', 'docs/start.md', 'docs/concepts.md', 'docs/how-it-works.md', 'docs/numbers.md'];
const ALONE = ['CHANGELOG.md', 'SECURITY.md', 'src/client/README.md'];
/** What is in docs/internals is for maintainers, who have the repository. */
const FOLDERS = ['docs', 'docs/use', 'docs/run'];

/** Their paths in the repository, which are those at the API as well. */
export async function documentsIn(root) {
  const listed = await Promise.all(
    FOLDERS.map(async (folder) => (await readdir(join(root, folder))).map((name) => `${folder}/${name}`)),
  );
  const all = [...ALONE, ...listed.flat().filter((path) => path.endsWith('.md'))].sort();
  return [...new Set([...FIRST, ...all])];
}

/** Writes them below a folder. */
export async function writeDocuments(root, folder) {
  const paths = await documentsIn(root);
  for (const path of paths) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(join(root, path), join(folder, path));
  }
  await writeFile(join(folder, 'llms.txt'), await listOf(root, paths));
}

async function listOf(root, paths) {
  const read = async (path) => ({ path, ...headOf(await readFile(join(root, path), 'utf8')) });
  const documents = await Promise.all(paths.map(read));
  const [readme] = documents;
  return [
    `# ${readme.title}`,
    '',
    `> ${readme.first}`,
    '',
    '## Documents',
    '',
    ...documents.map(({ path, title, first }) => `- [${title}](/${path}): ${first}`),
    '',
    '## The HTTP interface',
    '',
    '- [OpenAPI](/openapi.json): every operation, with its answers and examples.',
    '',
  ].join('\n');
}

/** A document's title, and the first sentence below it in one line. */
function headOf(text) {
  const [, title = ''] = /^# (.*)$/m.exec(text) ?? [];
  const paragraphs = text.slice(text.indexOf('\n') + 1).split(/\n\s*\n/);
  const prose = paragraphs.find((paragraph) => /^[A-Z`“]/.test(paragraph.trim())) ?? '';
  const line = prose
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1');
  const [first] = /^.*?[.:](?= |$)/.exec(line) ?? [line];
  return { title, first: first.replace(/:$/, '.') };
}
