import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registerPublished } from '../../support/published-client.ts';
import { type Behaviour, createResponder, type Responder } from '../../support/responder.ts';
import { createRuleFiles } from '../../support/rule-files.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { expectAccessible, headline, hint, pressRun, reads, says } from '../support/on-the-page.ts';
import { paintedTree } from '../support/painted-tree.ts';
import { tracesOf } from '../support/published-traces.ts';

const RESULTS = join(import.meta.dirname, '../../fixtures/results');
const FIRST_INPUT = '{"score":75.5,"age":20,"uid":9007199254740993,"vip":{"level":2},"which":"age"}';

describeInBrowser('results as the published clients wrote them, in the console', () => {
  let files: Awaited<ReturnType<typeof createRuleFiles>>;
  afterAll(() => files?.remove());
  const journey = useJourney(async () => {
    files = await createRuleFiles();
    await files.useFixture();
    await files.write('3', 7, 'version.txt');
    await files.node(121, '"type":5,"name":"age","confName":"com.sample.AgeFlow"');
    await files.node(133, '"type":5,"name":"old","confName":"com.sample.AgeFlow","inverse":true,"timeType":6,"end":1');
    await files.node(136, '"type":7,"name":"types","confName":"com.sample.TypesNone","forwardId":121');
    await files.node(160, '"type":1,"name":"in a hurry","sonIds":"161,163"');
    await files.node(161, '"type":12,"name":"first to say yes","sonIds":"121,162"');
    await files.node(162, '"type":7,"name":"nap","confName":"com.sample.SleepNone"');
    await files.node(163, '"type":7,"name":"sleep","confName":"com.sample.SleepNone"');
    await files.node(164, '"type":1,"name":"thrice","sonIds":"121,121,165"');
    await files.node(165, '"type":4,"name":"either","sonIds":"121,121"');
    await files.node(166, '"type":1,"name":"not so","sonIds":"121","inverse":true,"forwardId":167');
    await files.node(167, '"type":7,"name":"wait","confName":"com.sample.SleepNone"');
    return { demo: false, sharedDir: files.sharedDir };
  });

  describe.each(['python', 'java', 'go'] as const)('%s', (sdk) => {
    let client: Responder;
    beforeAll(async () => {
      await registerPublished({ sharedDir: files.sharedDir, app: 7, sdk, address: sdk });
      client = await createResponder({
        sharedDir: files.sharedDir,
        app: 7,
        address: sdk,
        as: 'directory',
        does: () => {},
      });
    });
    afterAll(() => client?.stop());

    async function run(query: string, does: Behaviour, input = '{}'): Promise<Page> {
      client.does = does;
      await registerPublished({ sharedDir: files.sharedDir, app: 7, sdk, address: sdk }); // it has just beaten
      const page = await journey.visit(`/?app=7&${query}&target=address:${sdk}#input=${encodeURIComponent(input)}`);
      await page.getByRole('treegrid').waitFor();
      await pressRun(page);
      await says(headline(page), new RegExp(`on ${sdk}$|No node ran|cannot be used`));
      return page;
    }
    const captured = (name: string): Behaviour =>
      answersWithText(() => readFile(join(RESULTS, `${name}.json`), 'utf8'));
    const traced = (process: string): Behaviour =>
      answersWithText(async () => `{"mockId":"m","executeAt":1,"success":true,"roam":{},"process":"${process}"}`);
    const { times, straggling, ...traces } = tracesOf[sdk];

    test('a whole result: the tree, why, what changed', async () => {
      const page = await run('rule=1', captured(`${sdk}-promotion`), FIRST_INPUT);
      expect(await paintedTree(page, { times: true })).toEqual([
        `AND root #10 TRUE · ${times.later}`,
        '  score gate #11 TRUE · 0 ms',
        '  ANY any-of #12 TRUE · 0 ms',
        '    age #14 TRUE · 0 ms',
        '    (vip #15 · not reached: “age” #14 is TRUE)',
        `  issue #13 TRUE · ${times.later}`,
        `    if ALL fwd-all #16 TRUE · ${times.later}`,
        '      uid? #17 TRUE · 0 ms',
        `      probe #18 NONE · ${times.later}`,
        '  expired #20 NONE · outside its time window',
        '  always NONE side #21 NONE · 0 ms',
        '    derived #23 NONE · 0 ms',
        '    union #24 NONE · 0 ms',
        '  always TRUE always #22 TRUE · 0 ms',
        '    rejected #25 FALSE · its condition is FALSE',
        '      if never #26 FALSE · 0 ms',
      ]);
      await says(
        page.locator('.why'),
        /^“root” #10 is TRUE because 4 nodes below it are TRUE and none is FALSE: “score gate” #11, “any-of” #12, “issue” #13, “always” #22\.$/,
      );
      const changes = await page.locator('.change:not(.same) .path').allTextContents();
      expect(changes).toEqual(expect.arrayContaining(['gift_sent', 'count', 'derived', 'union', 'probe']));
      const lost =
        'The client lost digits of 1 number: uid was 9007199254740993 and came back as 9007199254740992. Its SDK reads numbers as 64-bit floats.';
      if (sdk === 'go') await reads(page, lost);
      else expect(await page.locator('.notices').innerText()).toBe('');
      await expectAccessible(page);
    });

    test('relations in parallel', async () => {
      const page = await run('rule=4', traced(traces.parallel.process));
      expect(await paintedTree(page, { times: true })).toEqual(traces.parallel.painted);
      await says(page.locator('.why'), traces.parallel.why);
      expect(await page.locator('.notices').innerText()).toBe('');
    });

    test('an inverted node with a condition, a condition alone, and a node outside its time', async () => {
      const inverted = await run('node=166', traced('[167:SleepNone:N:5][121:AgeFlow:T:0][166:And:T-I:5]'));
      expect(await paintedTree(inverted, { times: true })).toEqual([
        'AND not so #166 FALSE · 5 ms',
        '  if wait #167 NONE · 5 ms',
        '  age #121 TRUE · 0 ms',
      ]);
      await says(
        inverted.locator('.why'),
        /^“age” #121 is TRUE[.:][\s\S]*“not so” #166 is TRUE because “age” #121 is TRUE\.\s+“not so” #166 came to TRUE and is inverted, so it counts as FALSE\./,
      );
      const condition = await run('node=136', traced('[121:AgeFlow:T:0][136:TypesNone:T:0]'));
      expect(await paintedTree(condition)).toEqual(['types #136 TRUE', '  if age #121 TRUE']);
      await says(
        condition.locator('.why'),
        '“types” #136 itself came to NONE. It counts as TRUE because its condition “age” #121 is TRUE.',
      );
      const outside = await run('node=133', traced(traces.outside));
      expect(await paintedTree(outside, { times: true })).toEqual(['old #133 NONE · outside its time window']);
      await says(
        outside.locator('.why'),
        /^“old” #133 counts as NONE and did not run: its time window is .+, and the run was as of .+\.$/,
      );
    });

    test('one node in four places', async () => {
      const trace = '[121:AgeFlow:T:0][121:AgeFlow:T:0][121:AgeFlow:T:0][165:Any:T:0][164:And:T:0]';
      const page = await run('node=164', traced(trace));
      expect(await paintedTree(page)).toEqual([
        'AND thrice #164 TRUE',
        '  age #121 TRUE',
        '  age #121 TRUE',
        '  ANY either #165 TRUE',
        '    age #121 TRUE',
        '    (age #121 · not reached: “age” #121 is TRUE)',
      ]);
      await page.locator('.tree-row').last().click();
      await reads(page, 'appears in 4 places of the tree');
    });

    if (straggling) {
      test('what ended after the node above it had its result is marked as late', async () => {
        const page = await run('node=160', traced(straggling.process));
        expect(await paintedTree(page, { times: true })).toEqual(straggling.painted);
      });
    }

    test('a rule outside its time window', async () => {
      const page = await run('rule=9', captured(`${sdk}-outside-its-window`));
      await says(headline(page), 'No node ran: the rule is outside its time window.');
      expect(await paintedTree(page)).toEqual(['(types #70)']);
    });

    test('a rule that threw', async () => {
      const page = await run('rule=2', captured(sdk === 'go' ? 'go-threw' : 'python-threw'));
      if (sdk === 'go') {
        await says(headline(page), /^Client go wrote .*the client crashed while it ran the rule/);
      } else {
        await says(headline(page), `The rule failed on ${sdk}`);
        await says(hint(page), 'kaboom');
      }
      expect((await paintedTree(page)).every((line) => /^ *\(.*\)$/.test(line))).toBe(true);
    });
  });
});

/** Answers with a text that was written for another execution. */
function answersWithText(read: () => Promise<string>): Behaviour {
  return async (request) => {
    const text = await read();
    await request.pickUp();
    await request.answer(text.replace(/("mockId": ?)"\w+"/, `$1"${request.mockId}"`));
  };
}
