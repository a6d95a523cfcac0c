import { expect, test } from 'vitest';
import { describeInBrowser, useJourney } from '../support/journey.ts';

describeInBrowser('pages for operators', () => {
  const journey = useJourney({ demo: false });

  test('/docs shows itself without asking anybody else for anything', async () => {
    // Whatever goes wrong on a page, and every request to another host, fails the journey.
    const page = await journey.visit('/docs');
    await page.getByText('Run a rule on one live client').first().waitFor();
    await page.waitForLoadState('networkidle');
    expect(page.url()).toContain(journey.service.url);
  });
});
