import type { Page } from 'playwright-core';
import { afterAll, afterEach, expect, test } from 'vitest';
import { registerPublished } from '../../support/published-client.ts';
import { answers, type Behaviour, createResponder, type Responder } from '../../support/responder.ts';
import { createRuleFiles } from '../../support/rule-files.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import {
  aim,
  expectAccessible,
  headline,
  hint,
  holds,
  pressRun,
  reads,
  runButton,
  says,
  toHistory,
  toRule,
  unfold,
} from '../support/on-the-page.ts';
import { paintedTree } from '../support/painted-tree.ts';

const runHint = (page: Page) => page.locator('#run-hint');
const hash = (input: string) => `#input=${encodeURIComponent(input)}`;

describeInBrowser('what the console says with the demo’s rules', () => {
  const journey = useJourney({ settings: { MAX_BODY_BYTES: 40_000 } });

  test('before a run: every part says what will stand there and what to do', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await says(headline(page), 'Not run yet');
    await says(hint(page), 'Run the rule to see the result and why.');
    await reads(page, 'After a run, this part shows what the client returned.');
    await reads(page, 'These are example values, taken from the rule’s settings. Change them as you need.');
    await toHistory(page);
    await reads(page, 'Runs of this rule appear here.');
    await reads(page, 'Select two runs to compare them.');
    await toRule(page);
    await page.getByRole('tab', { name: 'Node' }).click();
    await reads(page, 'Choose a node in the tree to see what it is and what it did.');

    await page.getByRole('searchbox', { name: 'Search nodes' }).fill('zzz');
    await reads(page, 'No node matches zzz.');
    await page.getByRole('combobox', { name: 'Rule' }).fill('zzz');
    await reads(page, 'Nothing matches. To use a number that is not listed, type it.');
    await page.keyboard.press('Escape');
    await unfold(page);
    await page.getByLabel('As of', { exact: true }).selectOption('Another time');
    await page.getByLabel('Date and time', { exact: true }).fill('yesterday');
    await reads(
      page,
      'This is not a date and time. Write 2026-03-20 18:00:00, ISO 8601 with an offset, or milliseconds since 1970.',
    );
    await expectAccessible(page);
  });

  test('input that cannot be sent: what is wrong, where, and that Run waits', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await page.getByLabel('cost', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Add a key' }).click();
    await page.getByRole('textbox', { name: 'Key' }).fill('cost');
    await reads(page, 'The input has cost already.');
    await page.keyboard.press('Escape');

    const bad = async (key: string, kind: string, typed: string, problem: string) => {
      await page.getByLabel(`Type of ${key}`).selectOption(kind);
      await page.getByLabel(key, { exact: true }).fill(typed);
      await says(runHint(page), `Correct ${key} first: it is ${problem}.`);
      expect(await runButton(page).getAttribute('aria-disabled')).toBe('true');
      await page.getByLabel(key, { exact: true }).fill(kind === 'JSON' ? '{}' : '1');
    };
    await bad('uid', 'int64', '1.5', 'not a whole number');
    await bad('uid', 'int64', '9223372036854775808', 'beyond the range of a 64-bit integer');
    await bad('cost', 'decimal', '1,5', 'not a decimal number');
    await bad('city', 'JSON', '{"a":', 'not JSON');

    await page.getByRole('tab', { name: 'JSON' }).click();
    const editor = page.getByRole('textbox', { name: 'Input as JSON' });
    await editor.fill('{"a": 1,\n "b": tru}');
    await reads(page, 'Line 2, column 7: unexpected tru');
    await says(runHint(page), 'Correct the JSON first: it is not valid.');
    await page.getByRole('tab', { name: 'Form' }).click();
    await reads(page, 'The JSON is not valid: line 2, column 7, unexpected tru. Correct it in the JSON view.');
    await page.getByRole('tab', { name: 'JSON' }).click();
    await editor.fill('[1]');
    await says(runHint(page), 'The input must be an object: { … }');
    expect(await runButton(page).getAttribute('aria-disabled')).toBe('true');
  });

  test('a call that the service cannot use, and one that is too large', async () => {
    const page = await journey.visit(`/?app=9001&rule=1&target=address:..${hash('{}')}`);
    await page.getByRole('treegrid').waitFor();
    await reads(page, '.. is not registered any more, so a run would be refused.');
    await pressRun(page);
    await says(headline(page), '`target`: ".." is a path, not a client\'s address. It did not run.');

    await aim(page, 'Any client');
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.getByRole('textbox', { name: 'Input as JSON' }).fill(JSON.stringify({ city: 'x'.repeat(50_000) }));
    await pressRun(page);
    await says(headline(page), 'The body is larger than 40000 bytes (MAX_BODY_BYTES). It did not run.');
    await page.getByRole('button', { name: 'Copy link' }).first().click();
    await reads(page, 'Link copied without the input, which is too long for a link or not valid JSON');
    await expectAccessible(page);
  });

  test('a service that does not answer, from the first moment on', async () => {
    const page = await journey.visit('/favicon.svg');
    await page.route('**/rule-server/**', (route) => route.abort());
    await page.goto(`${journey.service.url}/`);
    await page.getByRole('heading', { name: 'The service does not answer.' }).waitFor();
    await page.getByText('The page asks again every few seconds.').waitFor();
    await says(runHint(page), 'Choose a rule to run.');
    await expectAccessible(page);
    await page.goto(`${journey.service.url}/?app=9001&rule=1`);
    await page.getByRole('heading', { name: 'The tree cannot be drawn' }).waitFor();
    await page.getByText(/^The page could not get the list of keys: .+/).waitFor();
    await toHistory(page);
    await page.getByText(/^The page could not get the history: .+/).waitFor();
    await toRule(page);
    await page.unroute('**/rule-server/**');
    await holds(page.getByLabel('cost', { exact: true }), '100');
  });

  test('a mistake of the page itself keeps what was typed', async () => {
    const visited = await journey.visit('/favicon.svg');
    // Not watched: what the page catches it also writes into the console.
    const page = await visited.context().newPage();
    await page.goto(`${journey.service.url}/?app=9001&rule=1`);
    await page.getByLabel('city', { exact: true }).fill('Lyon');
    const body = 'export const JsonEditor = () => { throw new Error("a mistake"); };';
    await page.route('**/assets/json-editor*', (route) => route.fulfill({ contentType: 'text/javascript', body }));
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.getByRole('heading', { name: 'This part of the page stopped working' }).waitFor();
    await page.getByText('What you typed is kept. Reload the page to go on. (a mistake)').waitFor();
    await expectAccessible(page);
    await page.unroute('**/assets/json-editor*');
    await page.getByRole('button', { name: 'Reload' }).click();
    await holds(page.getByLabel('city', { exact: true }), 'Lyon');
  });

  test('a part of the page that is gone, as after an upgrade, says so, leaves the others as they are, and can be asked for again', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await page.getByLabel('city', { exact: true }).fill('Lyon');
    await page.route('**/assets/json-editor*', (route) => route.fulfill({ status: 404 }));
    await page.getByRole('tab', { name: 'JSON' }).click();
    const gone = page.getByRole('alert').filter({ hasText: 'cannot be fetched' });
    await gone.waitFor();
    await expectAccessible(page);
    await page.getByRole('tab', { name: 'Form' }).click();
    await holds(page.getByLabel('city', { exact: true }), 'Lyon');
    await page.unroute('**/assets/json-editor*');
    await page.getByRole('tab', { name: 'JSON' }).click();
    await gone.getByRole('button', { name: 'Ask again' }).click();
    await page.locator('.cm-content').getByText('Lyon').waitFor();
  });
});

describeInBrowser('what the console says of rules and clients that are not as they should be', () => {
  let files: Awaited<ReturnType<typeof createRuleFiles>>;
  const clients: Responder[] = [];
  afterAll(() => files?.remove());
  afterEach(async () => {
    for (const client of clients.splice(0)) {
      await client.stop();
      await client.unregister();
      await client.removeDirectory();
    }
  });
  const journey = useJourney(async () => {
    files = await createRuleFiles();
    await files.write('1', 7, 'version.txt');
    await files.rule(1, '"name":"damaged","confId":1');
    await files.node(1, '"type":1,"name":"all of it","sonIds":"2,3,4"');
    await files.node(2, '"type":5,"name":"score","confName":"com.sample.Score"');
    await files.write('{"id":4,"type":', 7, 'confs', '4.json');
    await files.rule(2, '"name":"empty"');
    await files.rule(3, '"name":"circle","confId":5');
    await files.node(5, '"type":1,"name":"one","sonIds":"6"');
    await files.node(6, '"type":1,"name":"other","sonIds":"5"');
    await files.rule(4, '"name":"keys","confId":7');
    await files.node(7, '"type":1,"name":"keys","sonIds":"8,9"');
    await files.node(8, '"type":7,"name":"derived","confName":"com.sample.DerivedNone"');
    await files.node(
      9,
      '"type":5,"name":"vip","confName":"com.sample.ScoreFlow","confField":"{\\"key\\":\\"vip.level\\"}"',
    );
    return { demo: false, sharedDir: files.sharedDir, settings: { CLIENT_TIMEOUT_MS: 3000 } };
  });

  async function client(does: Behaviour, more: { as?: 'rule' | 'directory' } = {}): Promise<void> {
    clients.push(await createResponder({ sharedDir: files.sharedDir, app: 7, address: 'orders-1', does, ...more }));
  }
  async function run(query: string): Promise<Page> {
    const page = await journey.visit(`/?app=7&${query}${hash('{}')}`);
    await page.getByRole('treegrid').waitFor();
    await page.getByText(/^orders-1 · (v1 · heartbeat .* ago|no registration)$/).waitFor();
    await pressRun(page);
    await says(headline(page), /^Done|^No node|^The rule|cannot/);
    return page;
  }

  test('nobody to run it: what cannot be chosen, and why Run waits', async () => {
    const page = await journey.visit(`/?app=7&rule=1${hash('{}')}`);
    await page.getByRole('treegrid').waitFor();
    await reads(page, 'No client online');
    await aim(page, 'Lane');
    await reads(page, 'No client has a lane.');
    await says(runHint(page), 'Choose a lane to run in.');
    await aim(page, 'One client');
    await reads(page, 'Choose a client');
    await says(runHint(page), 'Choose a client to run on.');
    await aim(page, 'All, compare');
    await says(runHint(page), 'No client is online to compare.');
    await expectAccessible(page);
    await page.goto(`${journey.service.url}/?app=7&rule=2${hash('{}')}`);
    await reads(page, 'This rule has no root node, so a run of it does nothing.');
    await page.goto(`${journey.service.url}/?app=7&rule=99${hash('{}')}`);
    await reads(
      page,
      'The rule may have been deleted, or belong to another app. Choose another rule above. You can still run it: a client may know the rule.',
    );
    await page.goto(`${journey.service.url}/?app=8&rule=1${hash('{}')}`);
    await reads(
      page,
      'App 8 has no readable rule files, so there is no tree to show. You can still run the rule: its trace is shown as a list.',
    );
    await page.goto(`${journey.service.url}/?app=7&rule=3${hash('{}')}`);
    await reads(
      page,
      'The nodes #5, #6 form a cycle. The service refuses to run this rule, because on some clients it would never end.',
    );
  });

  test('nodes that are not there, entries that have no place, a trace that ends in something else', async () => {
    await client(answers({ process: '[2:Score:T:0][77:Gone:F:1][1:And:T:2]' }));
    const page = await run('rule=1');
    expect(await paintedTree(page)).toEqual([
      'AND all of it #1 TRUE',
      '  score #2 TRUE',
      '  (#3 · not among the released nodes)',
      '  (#4 · not usable: its file cannot be read)',
    ]);
    await reads(page, '1 entry of the trace does not fit this tree: #77 Gone. The rule may have changed since.');
    await aim(page, 'One client');
    await page.getByText(/^Node SDK · v1 · heartbeat .* ago$/).waitFor();

    const [responder] = clients;
    if (responder) responder.does = answers({ process: '[2:Score:T:0][1:And:T:2] and so on' });
    await pressRun(page);
    await reads(page, 'The end of the trace cannot be read: [1:And:T:2] and so on');
  });

  test('keys that are only known when the rule runs, and keys that have no place', async () => {
    const page = await journey.visit(`/?app=7&rule=4${hash('{"vip":1}')}`);
    await reads(page, 'No client has reported which keys this rule reads. Add keys, or write the input as JSON.');
    // Whoever waits for a client need not reload the page when it comes.
    await registerPublished({ sharedDir: files.sharedDir, app: 7, sdk: 'python', address: 'py' });
    await reads(page, 'vip is not an object, so vip.level cannot be set in it. Change it in the JSON view.');
    await page.getByText('The name of this key depends on which. Add the key in the JSON view.').waitFor();
    await page.getByText(/^“Run for real” runs the rule on the client, with everything the rule does\.$/).waitFor();
    await expectAccessible(page);
  });
});
