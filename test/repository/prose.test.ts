import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { documentsIn } from '../../bin/documents.js';

const root = join(import.meta.dirname, '../..');
const BUDGET = join(import.meta.dirname, 'prose-budget.json');
const MAX_WORDS_IN_SENTENCE = 30;
const MAX_WORDS_IN_PARAGRAPH = 90;
/** Tables of figures and of styles, made by a command. */
const GENERATED = [
  'docs/console-states.md',
  'docs/analyzer.md',
  'docs/client-api.md',
  'docs/settings.md',
  'CHANGELOG.md',
];

/** Turns of phrase that a reader has to take apart, and what colleagues say instead. */
const PHRASES: readonly [RegExp, string][] = [
  [/\bwhat this accepts\b/i, 'Trade-off:'],
  [/\bfor those who run it for others\b/i, 'for operators'],
  [/\bwhatever dies\b/i, 'even if a process crashes'],
  [/\bis a question of manners\b/i, 'only affects …'],
  [/\brefused honestly\b/i, 'rejected before running'],
  [/\bcounted from the begin\b/i, 'measured from the start'],
  [/\bthe oldest .{0,20}leave first\b/i, 'the oldest … are evicted'],
  [/\bnothing is taken\b/i, 'is discarded'],
  [/\bthe (?:periodic )?look that finds\b/i, 'a periodic poll that catches'],
  [/\bthe looks that\b/i, 'the checks that'],
  [/\band is none\b/i, 'is not a valid …'],
  [/\bwhat writes\b/i, 'writes'],
  [/\bhas the wrong time\b/i, 'a clock is wrong'],
];

const countsSchema = z.object({ sentences: z.int(), paragraphs: z.int(), phrases: z.int() });
type Counts = z.infer<typeof countsSchema>;

/** The paragraphs of a document that are prose: no code, no tables, no headings; a list's entries one by one. */
function paragraphsOf(markdown: string): string[] {
  const text = markdown.replace(/^```[\s\S]*?^```$/gm, '').replace(/<[^>]+>/g, '');
  return text
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .map((part) => part.trim())
    .filter((part) => part !== '' && !/^(#|\|)/.test(part))
    .map((part) =>
      part
        .replace(/^(?:[-*]|\d+\.) /, '')
        .replace(/\]\([^)]*\)/g, ']')
        .replace(/\s+/g, ' '),
    );
}

const wordsIn = (text: string): number => text.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
const sentencesIn = (text: string): string[] => text.split(/(?<=[.:?!])[)*"”]* (?=[\p{Lu}`“*[])/u);

function countsOf(markdown: string): Counts {
  const paragraphs = paragraphsOf(markdown);
  const long = paragraphs.flatMap(sentencesIn).filter((sentence) => wordsIn(sentence) > MAX_WORDS_IN_SENTENCE);
  const whole = markdown.replace(/\s+/g, ' ');
  return {
    sentences: long.length,
    paragraphs: paragraphs.filter((paragraph) => wordsIn(paragraph) > MAX_WORDS_IN_PARAGRAPH).length,
    phrases: PHRASES.filter(([phrase]) => phrase.test(whole)).length,
  };
}

test('no document gets harder to read: long sentences, long paragraphs and hard phrases only become fewer', async () => {
  const documents = (await documentsIn(root)).filter((path) => !GENERATED.includes(path));
  const texts = await Promise.all(documents.map((path) => readFile(join(root, path), 'utf8')));
  const found = new Map(documents.map((path, index) => [path, countsOf(texts[index] ?? '')]));
  const budget = z.record(z.string(), countsSchema).parse(JSON.parse(await readFile(BUDGET, 'utf8')));
  const none: Counts = { sentences: 0, paragraphs: 0, phrases: 0 };
  const names = ['sentences', 'paragraphs', 'phrases'] as const;
  const more = [...found].flatMap(([path, counts]) =>
    names.flatMap((name) => {
      const allowed = (budget[path] ?? none)[name];
      return counts[name] > allowed ? [`${path}: ${counts[name]} ${name}, ${allowed} allowed`] : [];
    }),
  );
  expect(more).toEqual([]);
  const left = Object.fromEntries([...found].filter(([, counts]) => names.some((name) => counts[name] > 0)));
  if (process.env.UPDATE_PROSE) await writeFile(BUDGET, `${JSON.stringify(left, null, 2)}\n`);
  // Fewer now: `UPDATE_PROSE=1 npx vitest run test/repository/prose.test.ts` keeps it so.
  else expect(budget).toEqual(left);
});

test('a long sentence, a long paragraph and a hard phrase are found', () => {
  const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(' ');
  expect(countsOf(`# Title\n\nA ${words(29)}. B ${words(30)}.\n`)).toEqual({ sentences: 1, paragraphs: 0, phrases: 0 });
  expect(countsOf(`${Array.from({ length: 10 }, () => `A ${words(9)}.`).join(' ')}\n`)).toMatchObject({
    paragraphs: 1,
  });
  expect(countsOf('What this accepts: a file at the path that is none, and is\nnone.\n')).toMatchObject({ phrases: 2 });
  expect(countsOf(`\`\`\`\n${words(100)}\n\`\`\`\n\n| ${words(100)} |\n`)).toEqual({
    sentences: 0,
    paragraphs: 0,
    phrases: 0,
  });
});
