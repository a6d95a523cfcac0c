import { describe, expect, it, test } from 'vitest';
import { chinese } from '../../src/console/text/zh/reasons.ts';
import { noAnswer } from '../../src/shared/contract/endings/no-answer.ts';
import { problemAt } from '../../src/shared/reasons/problems.ts';
import { english, sentenceOf } from '../../src/shared/reasons/words.ts';

const namesIn = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

describe('in Chinese', () => {
  for (const part of ['reasons', 'advice', 'whys'] as const) {
    it.each(Object.entries(english[part]))(`${part}: %s has the same parameters`, (key, text) => {
      const own = Object.entries(chinese[part]).find(([name]) => name === key)?.[1] ?? '';
      expect([...new Set(namesIn(own))]).toEqual([...new Set(namesIn(text))]);
      if (/\w/.test(text.replace(/\{\w+\}/g, ''))) expect(own).toMatch(/\p{Script=Han}/u);
    });
  }
});

test('an ending is said with its cause, whether it ran, and what to do', () => {
  const cut = noAnswer('result-unusable', { address: 'orders-1', problem: 'result-cut', bytes: 17 });
  expect(sentenceOf(cut, chinese)).toBe(
    '客户端 orders-1 写的结果无法使用：它在 17 字节后过早结束。它可能已运行；再次运行之前，请先查看客户端。',
  );
  const nobody = noAnswer('no-client-online', { app: 7, online: 'a, b' });
  expect(sentenceOf(nobody, chinese)).toBe(
    '应用 7 没有在线客户端。它没有运行。在线：a, b。请启动客户端，或检查它的 SHARED_DIR。',
  );
});

test('problems of a request are said each with its field and its place', () => {
  const errors = [
    problemAt('ruleId', 'required-unless', { instead: 'confId', or: 'scene' }),
    problemAt('uid', 'invalid-type', { expected: 'whole-number', found: '"x"', row: 2, column: 1, line: 4 }),
  ];
  expect(sentenceOf({ reason: 'bad-request', params: {}, mayHaveRun: false, errors }, chinese)).toBe(
    '`ruleId`: 必须给出，除非已给出 `confId` 或 `scene`；`uid`: 必须是整数，实际是 "x"（第 2 行，第 1 列，文件第 4 行）。它没有运行。',
  );
});

test('a refusal is said with its limit', () => {
  const told = { reason: 'too-many-calls-of-key', params: { name: 'reports', limit: 20 }, mayHaveRun: null };
  expect(sentenceOf(told, chinese)).toBe('API 密钥“reports”每秒最多调用 20 次。请稍后再试。');
});
