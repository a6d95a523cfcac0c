import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Data } from '../../src/client/engine/data/data.ts';
import type { Leaves } from '../../src/client/leaves/leaf.ts';
import { createClientFiles } from './support/client-files.ts';
import { smallLeaves } from './support/small-leaves.ts';

let files: Awaited<ReturnType<typeof createClientFiles>>;
beforeEach(async () => {
  files = await createClientFiles();
  await files.node(1, '"type":6,"confName":"Double"');
  await files.node(2, '"type":5,"confName":"Boom"');
  await files.rule(4, '"confId":2,"scenes":"other"');
  await files.rule(5, '"confId":1,"scenes":"checkout"');
  await files.rule(6, '"confId":2,"scenes":"checkout"');
});
afterEach(() => files.close());

const leaves: Leaves = {
  ...smallLeaves,
  Double: class {
    doResult(service: Data): boolean {
      service.put('double', service.long('n', 0n) * 2n);
      if (service.scene) service.put('scene', service.scene);
      return true;
    }
  },
};

/** Asks as the published server's Mock does, and reads the answer. */
async function askPublished(members: string) {
  const client = await files.start({ leaves });
  const mockId = await files.put(client, `{"mockId":"request-1","app":7,${members},"createAt":${Date.now()}}`);
  const text = await files.answerTo(client, mockId);
  return { text, answer: JSON.parse(text) };
}

describe('the published server’s Mock is answered in the names it asks in', () => {
  test('with its members alone, and every number as it was written', async () => {
    const { text, answer } = await askPublished('"iceId":5,"roam":{"n":9007199254740993,"cost":120.10,"big":1e400}');
    expect(text).toContain('"roam":{"n":9007199254740993,"cost":120.10,"big":1e400,"double":18014398509481986}');
    expect(Object.keys(answer)).toEqual(['mockId', 'executeAt', 'success', 'trace', 'ts', 'roam', 'process']);
    expect(answer).toMatchObject({
      ...{ mockId: 'request-1', success: true, trace: expect.stringMatching(/^[A-Za-z0-9]{11}$/) },
      ...{ executeAt: expect.any(Number), ts: expect.any(Number) },
      process: expect.stringMatching(/^\[1:Double:T:\d+\]$/),
    });
  });

  test('a time is taken, and nothing but a rule is a call too', async () => {
    const { answer } = await askPublished('"iceId":5,"ts":1795150000000');
    expect(answer).toMatchObject({ success: true, ts: 1795150000000, roam: { double: 0 } });
  });

  test('a failure has its sentence and no data', async () => {
    const { answer } = await askPublished('"iceId":4,"roam":{"n":1}');
    expect(answer).toMatchObject({ success: false, error: 'kaboom', trace: expect.any(String) });
    expect(answer).not.toHaveProperty('roam');
  });

  test('a node is asked for by confId', async () => {
    const { answer } = await askPublished('"confId":1,"roam":{"n":4}');
    expect(answer).toMatchObject({ success: true, roam: { n: 4, double: 8 } });
  });

  test('a node is asked for without data', async () => {
    const { answer } = await askPublished('"confId":1');
    expect(answer).toMatchObject({ success: true, roam: { double: 0 }, trace: expect.any(String) });
    expect(answer).not.toHaveProperty('steps');
  });

  test('an id below 1 is none, and so is a time', async () => {
    const { answer } = await askPublished('"iceId":5,"confId":-1,"ts":-5,"roam":{"n":4}');
    expect(answer).toMatchObject({ success: true, roam: { double: 8 } });
    expect(answer.ts).toBeGreaterThan(1e12);
  });

  test('a scene runs its first rule, by id, counts before a node, and reaches the leaf', async () => {
    const { answer } = await askPublished('"scene":"checkout","confId":2,"roam":{"n":4}');
    expect(answer).toMatchObject({ success: true, roam: { double: 8, scene: 'checkout' } });
  });

  test('a rule counts before a scene, which its leaf is told', async () => {
    const { answer } = await askPublished('"iceId":5,"scene":"other","roam":{"n":4}');
    expect(answer).toMatchObject({ success: true, roam: { double: 8, scene: 'other' } });
  });

  test.each([
    ['a rule that is not there', '"iceId":99,"roam":{}', 'there is no rule 99'],
    ['a scene that no rule has', '"scene":"nowhere"', 'no rule is in the scene "nowhere"'],
    ['data that is no object', '"iceId":5,"roam":[]', 'the request cannot be used: "roam" must be an object'],
  ])('%s is said', async (_, members, error) => {
    expect((await askPublished(members)).answer).toMatchObject({ success: false, error });
  });
});
