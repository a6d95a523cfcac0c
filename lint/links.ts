// node lint/links.ts: every file and every heading that a document links to is there.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

process.chdir(join(import.meta.dirname, '..'));
const documents = execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' }).trim().split('\n');

/** The headings of a document as GitHub makes anchors of them. */
function anchorsOf(path: string): string[] {
  const text = readFileSync(path, 'utf8').replace(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

const broken = documents
  .filter((path) => existsSync(path))
  .flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/\]\((?!https?:|mailto:|data:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(
      ([, file = '', anchor]) => {
        const target = file === '' ? path : normalize(join(dirname(path), file));
        if (!existsSync(target)) return [`${path}: ${file} is not there`];
        if (anchor === undefined || !target.endsWith('.md') || anchorsOf(target).includes(anchor)) return [];
        return [`${path}: ${file} has no heading #${anchor}`];
      },
    ),
  );
for (const line of broken) console.error(line);
if (broken.length > 0) process.exitCode = 1;
