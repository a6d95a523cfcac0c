import { describe, expect, it } from 'vitest';
import { serviceInChinese } from '../../src/console/text/zh/service.ts';
import { limits, refusals } from '../../src/shared/contract/endings/refusals.ts';
import { resultFaults, sentences } from '../../src/shared/contract/endings/sentences.ts';
import { everySentence } from '../support/every-sentence.ts';

const claim = { address: 'orders-1', givesUp: true };

/** Words of the samples, and names that are the same in every language. */
const NAMES =
  /orders-1|lane:beta|m_x\.json|all|b-2|is not a registration|the disk is full|why|Redis lost it|EIO|\b[am]\b|API|JSON|Redis|Idempotency-Key|SHARED_DIR|REDIS_URL|\/readyz|\.rule-server\/claims|(?:mock|clients)\/7|target|dryRun|SDK|\b[A-Z]+(?:_[A-Z]+)+\b/g;

describe('a sentence of the service on a Chinese page', () => {
  it.each(everySentence)('is in Chinese, its parameters included: $error', ({ error }) => {
    const chinese = serviceInChinese(error);
    expect(chinese).toMatch(/\p{Script=Han}/u);
    expect(chinese.replace(NAMES, '').match(/[A-Za-z]{2,}/g)).toBeNull();
    for (const parameter of error.match(/orders-1|the disk is full|lane:beta/g) ?? [])
      expect(chinese).toContain(parameter);
  });

  it('has the fault of a result in Chinese as well', () => {
    const { error } = sentences.invalidResult(claim, { problem: resultFaults.cut(17), clientDied: false });
    expect(serviceInChinese(error)).toBe(
      '客户端 orders-1 写的结果无法使用：它在 17 字节后过早结束。规则已运行或已开始运行。',
    );
  });

  it('names the clients that are online, however many they are', () => {
    const { error } = sentences.noClient(7, '', sentences.others(['a', 'b'], null));
    expect(serviceInChinese(error)).toBe('应用 7 没有在线的客户端。规则没有运行。在线：a, b。');
    const online = Array.from({ length: 13 }, (_, n) => `c${n}`);
    const { error: many } = sentences.clientOffline('z', sentences.others(online, null));
    expect(serviceInChinese(many)).toMatch(/在线：c0, .*, c9 以及另外 3 个。$/);
  });

  it('keeps the nodes of a circle', () => {
    const rule = { app: 7, ruleId: '1', confId: null };
    expect(serviceInChinese(sentences.cycle(rule, [10n, 11n]).error)).toMatch(/^应用 7 的规则 1 有环：10 → 11 → 10。/);
    const long = Array.from({ length: 12 }, (_, n) => BigInt(n));
    expect(serviceInChinese(sentences.cycle(rule, long).error)).toMatch(/9 → … \(12 nodes\)。/);
  });

  it('tells which limit a key has reached', () => {
    expect(serviceInChinese(refusals.limitReached('reports', limits.callsPerSecond(20)))).toBe(
      'API 密钥“reports”每秒最多调用 20 次。这个请求被拒绝，什么都没有运行。请稍后再试。',
    );
  });

  it('leaves the words of a client, of the system and of a newer service as they are', () => {
    for (const text of ['Insufficient funds for 12', 'EACCES: permission denied', 'is empty', ''])
      expect(serviceInChinese(text)).toBe(text);
  });
});
