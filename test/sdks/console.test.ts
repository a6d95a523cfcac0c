import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { describeInBrowser, useJourney } from '../console/support/journey.ts';
import { aim, expectAccessible, headline, hint, pressRun, says } from '../console/support/on-the-page.ts';
import { paintedTree } from '../console/support/painted-tree.ts';
import type { Host } from './host.ts';
import { parallelPictures } from './parallel-pictures.ts';
import { prepareSdk, sampleApp, sdkNames } from './toolchains.ts';

const APP = 7;

/** What the page says of rule 11, and of rule 2, which throws. */
const words = {
  python: {
    sdk: 'Python SDK',
    parallel:
      /^The client’s trace does not list what ran below “neither” #122\.\s+“neither” #122 came to TRUE and is inverted, so it counts as FALSE\.\s+“parallel” #120 is FALSE because “neither” #122 is FALSE\. The nodes after “neither” #122 did not run\.$/,
    threw: ['The rule failed on', 'kaboom'],
    exact: true,
  },
  java: {
    sdk: 'Java SDK',
    parallel:
      /^“very old” #133 is FALSE[.:][\s\S]+ “whatever” #125 should always come to TRUE, but .+\s“parallel” #120 is FALSE because “whatever” #125 is FALSE\./,
    threw: ['The rule failed on', 'kaboom'],
    exact: true,
  },
  go: {
    sdk: 'Go SDK',
    parallel:
      /^“age” #131 is TRUE[.:][\s\S]+ “neither” #122 is TRUE because “age” #131 is TRUE\.\s+“neither” #122 came to TRUE and is inverted, so it counts as FALSE\.\s+“parallel” #120 is FALSE because “neither” #122 is FALSE\. The nodes after “neither” #122 did not run\./,
    threw: ['wrote a result that cannot be used', 'the client crashed while it ran the rule'],
    exact: false,
  },
} as const;

describe.each(sdkNames)('with the published %s SDK as its client', (name) => {
  describe.skipIf(!inject('sdks').includes(name))('as it is installed', () => {
    describeInBrowser('the console', () => {
      const journey = useJourney({ demo: false });
      let host: Host;
      beforeAll(async () => {
        const { sharedDir } = journey.service;
        await cp(sampleApp, join(sharedDir, String(APP)), { recursive: true });
        const sdk = await prepareSdk(name);
        if (sdk.kind !== 'ready') throw new Error(sdk.reason);
        host = await sdk.start({ sharedDir, app: APP, pollSeconds: 0.2, heartbeatSeconds: 1 });
      });
      afterAll(() => host?.stop());

      async function run(rule: number, input: string): Promise<Page> {
        const page = await journey.visit(`/?app=${APP}&rule=${rule}#input=${encodeURIComponent(input)}`);
        await page.getByRole('treegrid').waitFor();
        await page.getByText(new RegExp(`^${host.address} · v1 · `)).waitFor();
        await pressRun(page);
        await says(headline(page), new RegExp(`on ${host.address}$|No node ran|not a result`));
        return page;
      }

      /** The tree, with a word for every time, which is another in every run. */
      const painted = async (page: Page) =>
        (await paintedTree(page, { times: true })).map((line) => line.replace(/ · \d+(\.\d+)? m?s$/, ' · time'));

      const why = (page: Page) => page.locator('.why');

      it('every kind of place is painted: conditions, rejected, out of its time, not reached', async () => {
        const page = await run(1, '{"score":75.5,"age":20,"uid":9007199254740993,"vip":{"level":2},"which":"age"}');
        expect(await painted(page)).toEqual([
          'AND root #10 TRUE · time',
          '  score gate #11 TRUE · time',
          '  ANY any-of #12 TRUE · time',
          '    age #14 TRUE · time',
          '    (vip #15 · not reached: “age” #14 is TRUE)',
          '  issue #13 TRUE · time',
          '    if ALL fwd-all #16 TRUE · time',
          '      uid? #17 TRUE · time',
          '      probe #18 NONE · time',
          '  expired #20 NONE · outside its time window',
          '  always NONE side #21 NONE · time',
          '    derived #23 NONE · time',
          '    union #24 NONE · time',
          '  always TRUE always #22 TRUE · time',
          '    rejected #25 FALSE · its condition is FALSE',
          '      if never #26 FALSE · time',
        ]);
        await says(why(page), /^“root” #10 is TRUE because .* nodes below it are TRUE.*: “score gate” #11, /);
        const changed = await page.locator('.change:not(.same) .path').allTextContents();
        expect(changed).toEqual(expect.arrayContaining(['probe', 'gift_sent', 'count', 'derived', 'union']));
        await aim(page, 'One client');
        await page.getByText(new RegExp(`^${words[name].sdk} · v1 · heartbeat .* ago$`)).waitFor();
        await expectAccessible(page);
      });

      it('where it stopped, and that nothing after it was reached', async () => {
        const page = await run(1, '{"score":59}');
        expect(await painted(page)).toEqual([
          'AND root #10 FALSE · time',
          '  score gate #11 FALSE · time',
          '  (ANY any-of #12 · not reached: “score gate” #11 is FALSE)',
          '    (age #14 · did not run, like “any-of” #12 above it)',
          '    (vip #15 · did not run, like “any-of” #12 above it)',
          '  (issue #13 · not reached: “score gate” #11 is FALSE)',
          '    (if ALL fwd-all #16 · did not run, like “issue” #13 above it)',
          '      (uid? #17 · did not run, like “issue” #13 above it)',
          '      (probe #18 · did not run, like “issue” #13 above it)',
          '  (expired #20 · not reached: “score gate” #11 is FALSE)',
          '  (always NONE side #21 · not reached: “score gate” #11 is FALSE)',
          '    (derived #23 · did not run, like “side” #21 above it)',
          '    (union #24 · did not run, like “side” #21 above it)',
          '  (always TRUE always #22 · not reached: “score gate” #11 is FALSE)',
          '    (rejected #25 · did not run, like “always” #22 above it)',
          '      (if never #26 · did not run, like “always” #22 above it)',
        ]);
        await says(
          why(page),
          /^“score gate” #11 is FALSE: in the input, score is \d+, [\s\S]*“root” #10 is FALSE because “score gate” #11 is FALSE\. The nodes after “score gate” #11 did not run\./,
        );
      });

      it('inverted nodes show what they come to', async () => {
        const page = await run(3, '{"uid":1,"age":20,"vip":{"level":5}}');
        expect(await painted(page)).toEqual([
          'ANY neither #40 FALSE · time',
          '  not vip #41 FALSE · time',
          '  not of age #42 FALSE · time',
          '    if has uid #43 TRUE · time',
        ]);
        await says(
          why(page),
          '“neither” #40 is FALSE because both nodes below it are FALSE: “not vip” #41, “not of age” #42.',
        );
      });

      it('a node in several places is painted in each as it ran there', async () => {
        const page = await run(10, '{"age":20}');
        expect(await painted(page)).toEqual([
          'AND root #110 TRUE · time',
          '  age #111 TRUE · time',
          '  age #111 TRUE · time',
          '  ANY either #112 TRUE · time',
          '    age #111 TRUE · time',
          '    (age #111 · not reached: “age” #111 is TRUE)',
        ]);
      });

      it('what runs in parallel, as far as this client tells', async () => {
        const page = await run(11, '{"age":20,"uid":1}');
        expect(await painted(page)).toEqual(parallelPictures[name]);
        await says(why(page), words[name].parallel);
      });

      it('a leaf that this client does not know is left out, and that is said', async () => {
        const page = await run(9, '{"age":20}');
        expect(await painted(page)).toEqual([
          'AND root #100 TRUE · time',
          '  age #101 TRUE · time',
          '  (unknown #102 · left out: the client does not know its class)',
        ]);
        await page.getByText(/does not list the class com\.sample\.AbsentFlow/).waitFor();
      });

      it('outside its time window nothing runs; as of its end, by one press, it does', async () => {
        const page = await run(4, '{"age":20}');
        await says(headline(page), 'No node ran: the rule is outside its time window.');
        expect(await painted(page)).toEqual(['(age #50)']);
        await page.getByRole('button', { name: 'end', exact: true }).click();
        await pressRun(page);
        await says(headline(page), /^Done on/);
        expect(await painted(page)).toEqual(['age #50 TRUE · time']);
        await says(why(page), /^“age” #50 is TRUE[.:]/);
      });

      it('a slow node shows where the seconds went', async () => {
        const page = await run(5, '{}');
        expect(await paintedTree(page, { times: true })).toEqual([expect.stringMatching(/^slow #60 NONE · 3\.\d+ s$/)]);
        await page.locator('.timings > button').click();
        await says(page.locator('.phase-words'), /the rule [23]\.\d+ s/);
      });

      it('an integer of 64 bits comes back whole, or its lost digits are told', async () => {
        const page = await run(6, '{"uid":9007199254740993}');
        const echo = page.locator('.change', { has: page.getByText('echo', { exact: true }) });
        await says(echo, words[name].exact ? /9007199254740993/ : /9007199254740992/);
        if (!words[name].exact) await page.getByText(/The client lost digits of 1 number: uid was/).waitFor();
      });

      it('a rule that throws: who, what, and that the tree has nothing to show', async () => {
        const page = await run(2, '{"age":20}');
        const [title, reason] = words[name].threw;
        await says(headline(page), new RegExp(title));
        await says(name === 'go' ? headline(page) : hint(page), new RegExp(reason));
        expect(await painted(page)).toEqual(['(AND err root #30)', '  (age #31)', '  (boom #32)']);
        await expectAccessible(page);
      });
    });
  });
});
