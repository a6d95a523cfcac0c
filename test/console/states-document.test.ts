import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { en, type TextKey } from '../../src/console/text/en.ts';
import { zh } from '../../src/console/text/zh.ts';
import { isCode } from '../../src/shared/contract/endings/codes.ts';
import type { Template } from '../../src/shared/reasoning/words/format.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/console-states.md');
const BEGIN = '<!-- made by test/console/states-document.test.ts: UPDATE_STATES=1 writes it anew -->';

const words = (template: Template) =>
  (typeof template === 'string' ? template : template.other).replaceAll('|', '\\|').replaceAll('\n', ' ');

const isKey = (key: string): key is TextKey => key in en;

/** Every state of a run with its sentence and what to do, in both languages. */
function tableOf(prefix: string): string {
  const keys = Object.keys(en).filter((key) => key.startsWith(prefix) && !/\.hint(\.|$)/.test(key));
  const rows = keys.filter(isKey).map((key) => {
    const hint = `${key}.hint`;
    const name = key.slice(prefix.length);
    const both = [en, zh].flatMap((language) => [words(language[key]), isKey(hint) ? words(language[hint]) : '']);
    return `| ${isCode(name) ? `\`${name}\`` : name} | ${both.join(' | ')} |`;
  });
  return ['| State | Sentence | What now | 句子 | 怎么办 |', '|---|---|---|---|---|', ...rows].join('\n');
}

test('the table of states and sentences is that of the code', async () => {
  const document = await readFile(DOCUMENT, 'utf8');
  const [above = ''] = document.split(BEGIN);
  const made = `${above}${BEGIN}\n\n${tableOf('state.')}\n\n## While it goes on\n\n${tableOf('wait.')}\n`;
  if (process.env.UPDATE_STATES === '1') await writeFile(DOCUMENT, made);
  expect(await readFile(DOCUMENT, 'utf8')).toBe(made);
});
