import { expect, test } from 'vitest';
import { answers, createResponder } from '../../support/responder.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';

describeInBrowser('pages for operators', () => {
  const journey = useJourney({ demo: false });

  test.each([
    ['/ops/queues', 'executions'],
    ['/ops/queues/queue/executions?status=completed', 'app 7, rule 42'],
    ['/docs', 'Run a rule on one live client'],
  ])('%s shows itself without asking anybody else for anything', async (path, text) => {
    const { service } = journey;
    await using _client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: answers() });
    await service.execute({ app: 7, ruleId: 42 });
    // Whatever goes wrong on a page, and every request to another host, fails the journey.
    const page = await journey.visit(path);
    await page.getByText(text).first().waitFor();
    await page.waitForLoadState('networkidle');
    expect(page.url()).toContain(service.url);
  });
});
