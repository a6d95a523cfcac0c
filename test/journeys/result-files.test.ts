import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  answersAfter,
  answersWith,
  answersWithDirectory,
  answersWithLinkTo,
  answersWithoutPickingUp,
  answersWithPipe,
  type Behaviour,
  createResponder,
  createsFirstAndFillsAfter,
  type FoundRequest,
  resultText,
} from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const MIB = 1024 * 1024;

describe('whatever a client writes as its result', () => {
  let service: Service;
  let impatient: Service;
  let apps = 200;
  beforeAll(async () => {
    service = await startService();
    impatient = await startService({ settings: { RESULT_TIMEOUT_MS: 6000 } });
  });
  afterAll(() => Promise.all([service.stop(), impatient.stop()]));

  /** Runs one execution on a client that answers like this, while the service must go on serving others. */
  async function executeOn(does: Behaviour, on = service) {
    const app = ++apps;
    await using client = await createResponder({ sharedDir: on.sharedDir, app, does });
    const [answer] = await Promise.all([
      on.execute({ app, ruleId: 1 }),
      client.firstRequest().then(() => on.call('/healthz')),
    ]);
    return { ...answer, address: client.address, found: client.found };
  }

  describe.concurrent('is waited for while it may still become one', () => {
    it('a file that is empty at first and filled three seconds later is the answer', async () => {
      expect((await executeOn(createsFirstAndFillsAfter(3000))).status).toBe(200);
    });

    it('a file that is written in pieces is read when it is whole', async () => {
      const answer = await executeOn(async (request) => {
        const text = resultText(request, { 'the service': { note: 'a'.repeat(100_000) } });
        await request.pickUp();
        for (const end of [1, 40, 50_000, text.length - 1, text.length]) {
          await writeFile(request.resultPath, text.slice(0, end));
          await new Promise((resolve) => setTimeout(resolve, 150));
        }
      });
      expect(answer.status).toBe(200);
      expect(answer.json['the service'].note).toHaveLength(100_000);
    });

    it('something else at first, replaced within a second, is the answer', async () => {
      const answer = await executeOn(async (request) => {
        await request.pickUp();
        await request.answer('starting…');
        await new Promise((resolve) => setTimeout(resolve, 1000));
        await request.answer(resultText(request));
      });
      expect(answer.status).toBe(200);
    });

    it.each(['9223372036854775807', '-9223372036854775808', '17e11'])('executeAt may be %s', async (at) => {
      const { status, text } = await executeOn(executedAt(at));
      expect({ status, text }).toEqual({ status: 200, text: expect.stringContaining(`"executeAt":${at}`) });
    });

    it('a slow answer is the answer', async () => {
      expect((await executeOn(answersAfter(4000))).status).toBe(200);
    });

    it('an answer of a client that does not delete its requests is one, and the request is taken away', async () => {
      const answer = await executeOn(answersWithoutPickingUp);
      expect(answer.status).toBe(200);
      const warnings = service.log.filter(({ mockId, level }) => mockId === answer.json.mockId && level === 40);
      expect(warnings.map(({ msg }) => msg)).toEqual([
        'the client does not delete its requests; it may run them again',
      ]);
      expect(answer.found).toHaveLength(1);
    });
  });

  describe.concurrent('is refused when it can never become one: 502 invalid-result', () => {
    const text = (of: string) => answersWith(of);
    const members = (more: Record<string, unknown>) => answersWith((request) => resultText(request, more));
    const cases: [fact: string, does: Behaviour, sentence: RegExp][] = [
      ['the literal null', text('null'), /it is the literal null: the client crashed while it ran the rule\./],
      ['an array', text('[]'), /it is JSON, but not an object: array\./],
      ['a string', text('"done"'), /it is JSON, but not an object: string\./],
      ['a number', text('1'), /it is JSON, but not an object: number\./],
      ['plain text', text('done'), /it is not JSON: unexpected done at character 1\./],
      [
        'an object with something after it',
        text('{"success":true}{}'),
        /it is not JSON: unexpected "\{" after the end/,
      ],
      [
        'bare NaN',
        text('{"success":true,"the service":{"a":{"b":NaN}}}'),
        /NaN is not a JSON value at character \d+ in the service\.a\.b/,
      ],
      ['bare -Infinity', text('{"success":true,"a":-Infinity}'), /-Infinity is not a JSON value at character \d+ in a/],
      [
        'another execution’s mockId',
        members({ mockId: 'other' }),
        /it answers another execution: its mockId is "other"\./,
      ],
      ['a mockId that is a number', members({ mockId: 5 }), /its mockId is 5\./],
      ['no success', members({ success: undefined }), /it has no "success"\./],
      ['a success of null', members({ success: null }), /it has no "success"\./],
      ['a success of "true"', members({ success: 'true' }), /"success" that is neither true nor false: "true"\./],
      ['an array for the service', members({ 'the service': [] }), /"the service" that is not an object: array\./],
      ['text for executeAt', members({ executeAt: 'now' }), /"executeAt" that is no integer of 64 bits: "now"\./],
      [
        'more than a number of 64 bits',
        executedAt('9223372036854775808'),
        /"executeAt" that is no integer of 64 bits: 9223372036854775808\./,
      ],
      [
        'less than a float can tell from an integer',
        executedAt('1700000000000.00000001'),
        /"executeAt" that is no integer of 64 bits: 1700000000000\.00000001\./,
      ],
      ['part of a millisecond', members({ executeAt: 0.7 }), /"executeAt" that is no integer of 64 bits: 0\.7\./],
      ['a duplicate key', text('{"success":true,"success":false}'), /it gives success twice\./],
      ['a duplicate key deep inside', text('{"success":true,"a":[{"b":1,"b":2}]}'), /it gives a\[0\]\.b twice\./],
      ['a byte order mark', text('\ufeff{"success":true}'), /it starts with a byte order mark/],
      [
        'invalid UTF-8',
        answersWith(Buffer.from('{"success":true,"a":"\xff"}', 'latin1')),
        /it is not valid UTF-8: byte 22 of line 1 is 0xff\./,
      ],
      [
        '250 levels',
        text(`{"success":true,"a":${'['.repeat(250)}${']'.repeat(250)}}`),
        /nested deeper than 200 levels/,
      ],
      ['9 MiB', answersWith(Buffer.alloc(9 * MIB, ' ')), /it has 9437184 bytes, more than the 8388608 allowed/],
      ['a directory', answersWithDirectory, /it is a directory\./],
      ['a pipe', answersWithPipe, /it is a pipe\./],
      ['a dangling link', answersWithLinkTo('nowhere'), /it is a link, which is never followed\./],
    ];
    it.each(cases)('%s', async (_fact, does, sentence) => {
      const { status, json, address } = await executeOn(does);
      expect(json.error).toMatch(sentence);
      expect(json.error).toContain(`Client ${address} wrote a result that cannot be used`);
      expect([status, json.code, json.mayHaveRun]).toEqual([502, 'invalid-result', true]);
    });

    it('a link to a file outside, which stays as it was', async () => {
      const outside = join(service.sharedDir, 'outside.json');
      await writeFile(outside, '{"success":true}');
      const { status, json } = await executeOn(answersWithLinkTo(outside));
      expect([status, json.code]).toEqual([502, 'invalid-result']);
      expect(await readFile(outside, 'utf8')).toBe('{"success":true}');
    });

    it('a link to a directory outside, whose files stay', async () => {
      const outside = join(service.sharedDir, 'outside');
      await mkdir(outside, { recursive: true });
      await writeFile(join(outside, 'kept'), '');
      const { json } = await executeOn(answersWithLinkTo(outside));
      expect(json.code).toBe('invalid-result');
      expect(await readFile(join(outside, 'kept'), 'utf8')).toBe('');
    });
  });

  describe.concurrent('is refused at the deadline when it never became whole: 502 invalid-result', () => {
    const cases: [fact: string, does: Behaviour, sentence: RegExp][] = [
      ['empty to the end', answersWith(''), /after 6000 ms it is empty\./],
      ['half to the end', answersWith('{"success":tr'), /after 6000 ms it ends too early, after 13 bytes\./],
      ['cut inside a character', answersWith(cutCharacter()), /after 6000 ms it ends too early, after \d+ bytes\./],
    ];
    it.each(cases)('%s', async (_fact, does, sentence) => {
      const { status, json } = await executeOn(does, impatient);
      expect(json.error).toMatch(sentence);
      expect([status, json.code, json.mayHaveRun]).toEqual([502, 'invalid-result', true]);
    });
  });

  it('is read when it has no mockId: the file’s name binds it', async () => {
    const { status, json, found } = await executeOn(answersWith('{"success":true,"the service":{"a":1}}'));
    expect(status).toBe(200);
    expect(json).toMatchObject({
      mockId: found.map(({ mockId }: FoundRequest) => mockId).join(),
      'the service': { a: 1 },
    });
  });
});

function cutCharacter(): Buffer {
  return Buffer.from('{"success":true,"the service":{"a":"é', 'utf8').subarray(0, -1);
}

/** A result whose `executeAt` is written like this. */
function executedAt(raw: string): Behaviour {
  return answersWith(`{"success":true,"the service":{},"executeAt":${raw}}`);
}
