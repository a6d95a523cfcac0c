import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Makes every link of an unpacked package's README lead somewhere. The README is that of the repository, whose documents are below `dist/console` in
 * the server package and missing in the others: a link to what is missing becomes plain text, a picture goes.
 */
export function linkReadme(folder) {
  const path = join(folder, 'README.md');
  if (!existsSync(path)) return;
  const linked = readFileSync(path, 'utf8').replace(/(!?)\[([^\]]*)\]\(([^)]+)\)/g, (link, isPicture, text, target) => {
    if (/^(\w+:|#)/.test(target)) return link;
    const [file] = target.split('#');
    const found = ['', 'dist/console/'].find((below) => existsSync(join(folder, below, file)));
    if (found === undefined) return isPicture ? '' : text;
    return `${isPicture}[${text}](${found}${target})`;
  });
  writeFileSync(path, linked);
}
