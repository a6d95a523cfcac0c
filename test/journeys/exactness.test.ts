import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answers, answersWith, createResponder, resultText } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const MIB = 1024 * 1024;
const ESCAPES = String.raw`{"\u0041":"\ud83d\ude00\/\b","a\"b":"\\"}`;

/** Data objects as text. What arrives must be this text, not something that parses to the same values. */
const exact: [what: string, data: string][] = [
  ['an integer beyond 2^53', '{"n":9007199254740993}'],
  ['a number beyond the range of a double', '{"n":1e400,"m":-1E+400,"k":1e-400}'],
  ['trailing zeros', '{"n":0.10,"m":1.0,"k":100}'],
  ['negative zero', '{"n":-0,"m":-0.0}'],
  ['an integer of 4 KB', `{"n":${'9'.repeat(4096)}}`],
  ['a fraction of 4 KB', `{"n":0.${'3'.repeat(4096)}}`],
  ['keys in the order they were written', '{"b":1,"a":2,"10":3,"9":4,"__proto__":5,"constructor":6}'],
  ['thirty levels', `${'{"a":['.repeat(15)}1.50${']}'.repeat(15)}`],
  ['white space inside', '{ "a" :\n[ 1 ,\t2 ] }'],
  ['escapes as they were written', ESCAPES],
  ['an empty object', '{}'],
];

describe('no value changes on its way', () => {
  let service: Service;
  let apps = 300;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  describe.concurrent('to the client', () => {
    it.each(exact)('%s', async (_what, data) => {
      await using client = await clientThat(answers());
      const answer = await service.execute(`{"ruleId":1, "the service" : ${data} ,"app":${client.app}}`);
      expect(answer.status).toBe(200);
      expect(client.found[0]?.text).toContain(`"the service":${data},`);
    });

    it('text of every script, as escapes that every reader understands', async () => {
      const text = 'é ☃ 😀 \u2028 \u2029 \u007f \ud800 日本';
      await using client = await clientThat(answers());
      const data = JSON.stringify({ [text]: text });
      const answer = await service.execute(`{"app":${client.app},"ruleId":1,"the service":${data}}`);
      expect(answer.status).toBe(200);
      const file = client.found[0]?.text ?? '';
      expect(file).toMatch(/^[\x20-\x7e]*$/);
      expect(JSON.parse(file)['the service']).toEqual({ [text]: text });
    });

    it('ids and times up to 2^63 - 1', async () => {
      await using client = await clientThat(answers());
      const answer = await service.execute(
        `{"app":${client.app}.0,"ruleId":9223372036854775807,"confId":9007199254740993,"ts":92233720368547758e2}`,
      );
      expect(answer.status).toBe(200);
      expect(client.found[0]?.text).toContain(
        `"app":${client.app},"ruleId":9223372036854775807,"confId":9007199254740993,"ts":9223372036854775800,`,
      );
    });

    it('an input of nearly a mebibyte', async () => {
      await using client = await clientThat(answers());
      const data = `{"text":"${'x'.repeat(MIB - 200)}"}`;
      const answer = await service.execute(`{"app":${client.app},"ruleId":1,"the service":${data}}`);
      expect(answer.status).toBe(200);
      expect(client.found[0]?.text.includes(data)).toBe(true);
    });
  });

  describe.concurrent('to the caller', () => {
    it.each(exact)('%s', async (_what, data) => {
      await using client = await clientThat(
        answersWith(({ mockId }) => `{"mockId":"${mockId}","success":true,"the service":${data},"executeAt":1.0}`),
      );
      const answer = await service.execute({ app: client.app, ruleId: 1 });
      const mockId = client.found[0]?.mockId;
      expect(answer.status).toBe(200);
      expect(answer.text).toBe(
        `{"mockId":"${mockId}","success":true,"the service":${data},"executeAt":1.0,"process":null,"error":null}`,
      );
    });

    it('text of every script, as the client wrote it', async () => {
      const data = JSON.stringify({ 'é ☃ 😀': '\u2028 \u2029 \u007f 日本' });
      await using client = await clientThat(answersWith(`{"success":true,"the service":${data}}`));
      const answer = await service.execute({ app: client.app, ruleId: 1 });
      expect(answer.text).toContain(`"the service":${data},`);
    });

    it('a result of a published client under our name for its data', async () => {
      await using client = await clientThat(answersWith('{"success":true,"roam":{"n":1.10},"trace":-0}'), {
        as: 'python',
      });
      const answer = await service.execute({ app: client.app, ruleId: 1 });
      expect(answer.text).toContain('{"success":true,"the service":{"n":1.10},"trace":-0,');
    });

    it('a result of eight mebibytes, to the last byte', async () => {
      const app = ++apps;
      const size = 8 * MIB - resultText({ mockId: crypto.randomUUID() }, { 'the service': { text: '' } }).length;
      const text = 'x'.repeat(size);
      await using _ = await clientThat(answers({ 'the service': { text } }), { app });
      const answer = await service.execute({ app, ruleId: 1 });
      expect(answer.status).toBe(200);
      expect(answer.bytes).toHaveLength(8 * MIB);
      expect(answer.text.includes(text)).toBe(true);
    });

    it('results just below and above what travels with the job', async () => {
      for (const size of [16_000, 16_384, 17_000]) {
        const data = { text: 'é'.repeat(size / 2) };
        await using client = await clientThat(answers({ 'the service': data }));
        const answer = await service.execute({ app: client.app, ruleId: 1 });
        expect(answer.text).toContain(JSON.stringify(data));
      }
    });
  });

  async function clientThat(
    does: Parameters<typeof createResponder>[0]['does'],
    options: Partial<Parameters<typeof createResponder>[0]> = {},
  ) {
    const app = options.app ?? ++apps;
    return Object.assign(await createResponder({ sharedDir: service.sharedDir, does, ...options, app }), { app });
  }
});
