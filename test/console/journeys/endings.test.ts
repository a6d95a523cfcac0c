import { writeFile } from 'node:fs/promises';
import type { Page, Route } from 'playwright-core';
import { afterAll, afterEach, expect, test } from 'vitest';
import {
  answers,
  answersAfter,
  answersWith,
  type Behaviour,
  createResponder,
  errs,
  picksUpAndStaysSilent,
  type Responder,
  staysSilent,
  unregistersAfterPickUp,
} from '../../support/responder.ts';
import { createRuleFiles } from '../../support/rule-files.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { expectAccessible, headline, hint, picture, pressRun, reads, says } from '../support/on-the-page.ts';

const BIG = '9007199254740993';

describeInBrowser('how the console tells of every ending', () => {
  let files: Awaited<ReturnType<typeof createRuleFiles>>;
  const clients: Responder[] = [];
  afterAll(() => files?.remove());
  const journey = useJourney(async () => {
    files = await createRuleFiles();
    await files.write('1', 7, 'version.txt');
    await files.rule(1, '"name":"gate","confId":1');
    await files.node(1, '"type":1,"name":"all of it","sonIds":"2,3"');
    await files.node(2, '"type":5,"name":"score","confName":"com.sample.Score"');
    await files.node(3, '"type":6,"name":"give","confName":"com.sample.Give"');
    await files.rule(2, '"name":"long ago","confId":1,"timeType":6,"end":1000');
    await files.rule(3, '"name":"circle","confId":4');
    await files.node(4, '"type":1,"sonIds":"5"');
    await files.node(5, '"type":1,"sonIds":"4"');
    return {
      demo: false,
      sharedDir: files.sharedDir,
      settings: { RESULT_TIMEOUT_MS: 6000, CLIENT_TIMEOUT_MS: 6000, QUEUE_TIMEOUT_MS: 5000 },
    };
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) {
      await client.stop();
      await client.unregister();
      await client.removeDirectory();
    }
  });
  type Client = { address?: string; lane?: string; as?: 'rule' | 'python' | 'go' };
  async function client(does: Behaviour, { address = 'orders-1', ...more }: Client = {}): Promise<Responder> {
    const responder = await createResponder({ sharedDir: files.sharedDir, app: 7, does, address, ...more });
    clients.push(responder);
    return responder;
  }

  /** Opens rule 1 for one client and presses Run. */
  async function run(query = 'app=7&rule=1&target=address:orders-1', input = '{}'): Promise<Page> {
    const page = await journey.visit(`/?${query}#input=${encodeURIComponent(input)}`);
    await page.getByRole('treegrid').or(page.locator('.empty h2')).first().waitFor();
    await pressRun(page);
    return page;
  }

  test('not picked up: it waits, says for whom, and that the rule did not run', async () => {
    await client(staysSilent);
    const page = await run();
    await says(headline(page), 'Dispatched: waiting for orders-1 to pick up the request.');
    await expectAccessible(page);
    await says(headline(page), /^Client orders-1 did not pick the request up within 6000 ms; .* It did not run\.$/);
    await page.getByText('The rule did not run, so it changed nothing.').waitFor();
    await expectAccessible(page);
    await picture(page, 'console-timeout');
  });

  test('picked up and no answer: it may have run; a late result is shown when it comes', async () => {
    await client(answersAfter(9000));
    const page = await run();
    await says(headline(page), 'orders-1 has picked up the request and is running the rule.');
    await says(headline(page), /^Client orders-1 picked the request up, but wrote no answer .* It may have run;/);
    await says(hint(page), 'The client may still be running the rule. If its result comes later, this page shows it.');
    await says(
      headline(page),
      'The client’s result came late: the service had already stopped waiting. This page shows the result.',
    );
    await page.getByRole('tab', { name: 'Raw' }).click();
    await page.getByRole('heading', { name: 'Late result' }).waitFor();
  });

  test('the client left while it ran the rule', async () => {
    await client(unregistersAfterPickUp);
    const page = await run();
    await says(headline(page), /^Client orders-1 left while it had the request\. It may have run;/);
  });

  test('something that is not a result, which can be read', async () => {
    const answering = await client(answersWith('null'));
    const page = await run();
    await says(headline(page), /^Client orders-1 wrote .*the client crashed while it ran the rule/);
    expect(await page.getByRole('button', { name: 'Save as case' }).count()).toBe(0);
    answering.does = answersWith('Fatal: 42 rules, no JSON');
    await pressRun(page);
    await says(headline(page), /it is not JSON/);
    await page.getByRole('tab', { name: 'Raw' }).click();
    await page.getByRole('heading', { name: 'What the client wrote, which is no result' }).waitFor();
    await reads(page, 'Fatal: 42 rules, no JSON');
    await expectAccessible(page);
  });

  test('on a Chinese page the sentences of the service are in Chinese; those of a client are its own', async () => {
    const address = 'address:orders-1';
    const answering = await client(answersWith('{"success":"yes"}'));
    const page = await journey.visit(`/?app=7&rule=1&target=${address}#input=%7B%7D`, { locale: 'zh-CN' });
    await page.getByRole('button', { name: /^真实运行/ }).click();
    await says(headline(page), /^客户端 orders-1 .*：.*它的 "success" 既不是 true 也不是 false："yes"。/);
    await answering.stop();
    await answering.unregister();
    await client(errs('no coupons left'));
    await page.getByRole('button', { name: /^真实运行/ }).click();
    await says(headline(page), '规则在 orders-1 上失败');
    await says(hint(page), 'no coupons left');
    await page.goto(`${new URL(page.url()).origin}/?app=7&rule=3#input=%7B%7D`);
    await page.getByRole('button', { name: /^真实运行/ }).click();
    await says(headline(page), /^应用 7 的规则 3 有环：4 → 5 → 4。它没有运行。/);
    await page.goto(`${new URL(page.url()).origin}/?app=7&rule=1&target=address:..#input=%7B%7D`);
    await page.getByRole('button', { name: /^真实运行/ }).click();
    await says(headline(page), '`target`: ".." 是路径，不是客户端地址。它没有运行。');
    await picture(page, 'console-bad-call-zh');
  });

  test('the rule threw', async () => {
    await client(errs('the card service refused 120'));
    const page = await run();
    await says(headline(page), 'The rule failed on orders-1');
    await says(hint(page), 'the card service refused 120');
    await page.getByText('The rule failed, so the page cannot say what it changed.').waitFor();
    await expectAccessible(page);
  });

  test('an empty trace: the rule is outside its time window, and its edge is one press away', async () => {
    await client(answers({ process: '' }));
    const page = await run('app=7&rule=2&target=address:orders-1');
    await says(headline(page), 'No node ran: the rule is outside its time window.');
    await says(hint(page), /^The time window of the rule: until Jan 1, 1970.*\. Set “As of” to a time inside it\.$/);
    await page.getByRole('button', { name: 'end', exact: true }).click();
    await pressRun(page);
    await says(headline(page), 'No node ran: the client wrote an empty trace.');
  });

  test('no trace at all', async () => {
    await client(answers({ process: null }));
    const page = await run();
    await says(headline(page), /^Done on/);
    await says(hint(page), 'The client wrote no trace, so the tree cannot show results.');
  });

  test('stopped before a client took it, by key', async () => {
    await client(staysSilent);
    const page = await run();
    await says(headline(page), /^Dispatched/);
    await page.keyboard.press('Escape');
    await says(headline(page), /was cancelled before orders-1 picked the request up; .* It did not run\.$/);
    await expectAccessible(page);
  });

  test('stopped while the client was running it, by button', async () => {
    await client(picksUpAndStaysSilent);
    const page = await run();
    await says(headline(page), /has picked up the request/);
    await page.getByRole('button', { name: /^Stop/ }).click();
    await says(headline(page), /was cancelled after orders-1 had picked the request up\. It may have run;/);
  });

  test('no client online, an empty lane and a client that is offline are refused at once', async () => {
    const page = await run('app=7&rule=1');
    await says(headline(page), /^App 7 has no client online\. .*It did not run\./);
    await page.getByText('No client online', { exact: true }).waitFor();
    await page.getByText('No client of app 7 is online. Start one, or choose another app.').waitFor();
    await expectAccessible(page);

    const lane = await run('app=7&rule=1&target=lane:beta');
    await lane.getByText('No client is online in lane beta, so a run would be refused.').waitFor();
    await says(headline(lane), /^App 7 has no client online.* It did not run\./);

    const silent = await client(staysSilent);
    const unknown = await run('app=7&rule=1&target=address:nobody-1');
    await says(headline(unknown), /^App 7 has no client nobody-1\. It did not run\./);
    await silent.stopBeating();
    await writeFile(silent.heartbeatPath, JSON.stringify({ lastHeartbeat: Date.now() - 600_000, loadedVersion: 1 }));
    const state = async () => (await journey.service.call('/rule-server/mock/clients?app=7')).json.items[0]?.state;
    await expect.poll(state, { timeout: 60_000 }).toBe('offline'); // by the file's time too
    const offline = await run();
    await says(headline(offline), /^Client orders-1 is offline\. It did not run\./);
    await offline.getByText(/^orders-1 is offline \(last heartbeat .* ago\), so a run would be refused\.$/).waitFor();
    await expectAccessible(offline);
  });

  test('a circle in the rule is refused, and named', async () => {
    await client(answers());
    const page = await run('app=7&rule=3&target=address:orders-1');
    await page.getByText('The nodes #4, #5 form a cycle.').waitFor();
    await says(headline(page), /^Rule 3 of app 7 has a cycle: .* It did not run\./);
  });

  test('another version at the client, and digits that it lost', async () => {
    await files.write('3', 7, 'version.txt');
    await client(
      answersWith(
        ({ mockId }) =>
          `{"mockId":"${mockId}","success":true,"the service":{"uid":9007199254740992},"process":"[2:Score:F:0][1:And:F:0]","error":null,"executeAt":1}`,
      ),
    );
    const page = await run('app=7&rule=1&target=address:orders-1', `{"uid":${BIG}}`);
    await says(headline(page), /^Done on/);
    await page
      .getByText(
        'When this run was sent, the released version was 3, but orders-1 had reported version 1. It may have run either, so the tree is shown without settings.',
      )
      .waitFor();
    await page
      .getByText(
        `The client lost digits of 1 number: uid was ${BIG} and came back as 9007199254740992. Its SDK reads numbers as 64-bit floats.`,
      )
      .waitFor();
    await expectAccessible(page);
    await files.write('1', 7, 'version.txt');
  });

  test('a connection that breaks is said to, and so is its return', async () => {
    await client(picksUpAndStaysSilent);
    const page = await journey.visit('/?app=7&rule=1&target=address:orders-1');
    await page.getByRole('treegrid').waitFor();
    await page.route('**/events', (route) => route.abort());
    await pressRun(page);
    await page.getByText('Live updates are interrupted. The page asks the service every second instead.').waitFor();
    await says(headline(page), 'orders-1 has picked up the request and is running the rule.');
    await page.unroute('**/events');
    await says(headline(page), /wrote no answer/);
  });

  test.each([
    ['nothing', (route: Route) => route.abort()],
    ['a gateway', (route: Route) => route.fulfill({ status: 502, body: 'Bad Gateway' })],
  ])('a call that %s answers may be asked for again, and runs once', async (_, answer) => {
    const orders = await client(answers({ process: '[2:Score:F:0][1:And:F:0]' }));
    const page = await journey.visit('/?app=7&rule=1&target=address:orders-1');
    await page.getByRole('treegrid').waitFor();
    // The call arrives; its answer does not.
    await page.route('**/execute', async (route) => {
      await route.fetch();
      await answer(route);
    });
    await pressRun(page);
    await says(headline(page), 'The service gave no answer, so the page does not know whether the run began.');
    await says(hint(page), '“Ask again” is safe: the service never runs the same call twice.');
    await page.unroute('**/execute');
    await page.getByRole('button', { name: 'Ask again' }).click();
    await says(headline(page), /^Done on/);
    if (orders.found.length !== 1) throw new Error(`it ran ${orders.found.length} times`);
  });

  test.each([
    ['outcome-unknown', 'The service does not have the result of this run.', 'What the service says.', true],
    ['something-new', 'The service refused the call.', 'What the service says. The rule did not run.', false],
  ])('refused with %s and no reason: %s', async (code, sentence, whatNow, mayHaveRun) => {
    const page = await journey.visit('/?app=7&rule=1');
    await page.getByRole('treegrid').waitFor();
    const body = { mockId: 'm', success: false, error: 'What the service says.', code, mayHaveRun };
    await page.route('**/execute', (route) => route.fulfill({ status: 503, json: body }));
    await page.route('**/executions/m', (route) => route.fulfill({ status: 404, json: { error: 'There is none.' } }));
    await pressRun(page);
    await says(headline(page), sentence);
    await says(hint(page), whatNow);
  });

  test('a refusal for load that cannot rule out an earlier run does not claim that nothing ran', async () => {
    const page = await journey.visit('/?app=7&rule=1');
    await page.getByRole('treegrid').waitFor();
    const error = 'Whether an earlier call under this Idempotency-Key ran was not looked up.';
    const told = { code: 'overloaded', reason: 'key-not-looked-up', params: {}, mayHaveRun: true };
    const body = { mockId: null, success: false, error, ...told };
    await page.route('**/execute', (route) => route.fulfill({ status: 503, json: body }));
    await pressRun(page);
    await says(headline(page), error);
  });

  test('a run that is too long ago', async () => {
    const page = await journey.visit('/?app=7&rule=1&run=no-such-run#input=%7B%22a%22:1%7D');
    await says(headline(page), 'This run is no longer kept, or you have no access to it.');
    await says(hint(page), 'The form has the input from the link. The page cannot know whether the rule ran.');
  });

  test('a service that does not answer is asked again', async () => {
    await client(answers({ process: '[2:Score:F:0][1:And:F:0]' }));
    const page = await run();
    await says(headline(page), /^Done on/);
    const address = page.url();
    await page.context().route('**/executions/**', (route) => route.abort());
    await page.goto('about:blank');
    await page.goto(address);
    await says(headline(page), 'The service does not answer.');
    await says(hint(page), 'The page asks again every second. What you typed is kept.');
    await page.context().unroute('**/executions/**');
    await says(headline(page), /^Done on/);
  });
});
