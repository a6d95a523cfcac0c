import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dialects } from '../../../src/worker/files/dialects/dialects.ts';
import { judgeResult } from '../../../src/worker/files/results/result-file.ts';

const mockId = '7f3a5c1e-0000-4000-8000-000000000001';
const judge = (text: string | Uint8Array, dialect: 'rule' | 'ice' = 'rule') =>
  judgeResult(typeof text === 'string' ? Buffer.from(text) : text, mockId, dialects[dialect]);

const resultText = fc
  .record({
    success: fc.boolean(),
    'the service': fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()),
    process: fc.option(fc.string()),
    error: fc.option(fc.string({ unit: 'grapheme' })),
    executeAt: fc.nat(),
  })
  .map((members) => JSON.stringify({ mockId, ...members }));

describe('judging a result', () => {
  it('any good result is the answer, to the letter', () => {
    fc.assert(
      fc.property(resultText, (text) => {
        expect(judge(text)).toMatchObject({ kind: 'answer', body: text, success: JSON.parse(text).success });
      }),
    );
  });

  it('no beginning of a good result is ever wrong, cut anywhere, even inside a character', () => {
    fc.assert(
      fc.property(resultText, fc.nat(), (text, cut) => {
        const bytes = Buffer.from(text);
        expect(judge(bytes.subarray(0, cut % bytes.length)).kind).toBe('incomplete');
      }),
    );
  });

  it('a good result with anything after it is wrong, but for white space', () => {
    expect(judge('{"success":true} \r\n\t').kind).toBe('answer');
    for (const more of ['{}', '}', ',', '\u0000', '\ufeff', 'x'])
      expect(judge(`{"success":true}${more}`).kind).toBe('wrong');
  });

  it('what the client left out is added at the end, what it wrote as null stays in its place', () => {
    expect(judge('{"error":null,"executeAt":1,"x":1.0,"success":false}')).toMatchObject({
      kind: 'answer',
      body: `{"error":null,"executeAt":1,"x":1.0,"success":false,"mockId":"${mockId}","the service":{},"process":null}`,
      success: false,
    });
    expect(
      judge(`{"mockId":null,"the service":null,"executeAt":2,"process":null,"error":null,"success":true}`),
    ).toMatchObject({
      kind: 'answer',
      body: `{"mockId":"${mockId}","the service":{},"executeAt":2,"process":null,"error":null,"success":true}`,
      success: true,
    });
  });

  it('the data of a published client comes under our name, and only that', () => {
    const { kind, ...rest } = judge('{"roam":{"n":-0},"the service":{"old":1},"success":true,"executeAt":1}', 'ice');
    expect(kind).toBe('answer');
    expect(rest).toMatchObject({
      body: `{"the service":{"n":-0},"success":true,"executeAt":1,"mockId":"${mockId}","process":null,"error":null}`,
    });
  });

  it('our own client’s "roam" is nothing to us', () => {
    const judgement = judge('{"roam":[],"success":true,"executeAt":1}');
    expect(judgement).toMatchObject({ kind: 'answer', body: expect.stringContaining('"roam":[]') });
  });

  it('its name may be written with escapes', () => {
    expect(
      judge('{"\\u0073uccess":true,"the\\u0020service":{"a":1},"mockId":"7f3a5c1e\\u002d0000-4000-8000-000000000001"}'),
    ).toMatchObject({ kind: 'answer', body: expect.stringContaining('"the service":{"a":1}') });
  });

  it.each([
    ['"outcome":"approved"', 'result-bad-outcome'],
    ['"outcome":1', 'result-bad-outcome'],
    ['"dryRun":"yes"', 'result-bad-flag'],
  ])('with %s is none', (member, problem) => {
    expect(judge(`{"success":true,${member}}`)).toMatchObject({ kind: 'wrong', fault: { problem } });
  });

  it('what our clients write beside is passed on, whatever it is', () => {
    const members = '"outcome":"NONE","dryRun":false,"ts":"now","rules":1,"effects":[],"warnings":{},"steps":2';
    expect(judge(`{"success":true,${members}}`)).toMatchObject({
      kind: 'answer',
      body: expect.stringContaining(members),
    });
  });

  it('what it says of a long value is short', () => {
    const judgement = judge(`{"success":"${'x'.repeat(100_000)}"}`);
    expect(judgement).toMatchObject({ kind: 'wrong', fault: { value: expect.stringMatching(/^.{1,200}$/) } });
  });

  it('anything at all is judged without a throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.json(), (bytes, text) => {
        expect(['answer', 'incomplete', 'wrong']).toContain(judge(bytes).kind);
        expect(['answer', 'wrong']).toContain(judge(text).kind === 'incomplete' ? 'answer' : judge(text).kind);
      }),
      { numRuns: 1000 },
    );
  });
});
