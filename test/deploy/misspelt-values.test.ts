import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHART, hasHelm, helm } from '../support/helm.ts';

describe.skipIf(!hasHelm())('the values of the chart (needs helm)', () => {
  it.each(['RESULT_TIMEOUT', 'QUEUE_PREFX', 'HISTORY_COUNTS'])(
    'a setting that is misspelt is refused: %s',
    async (name) => {
      const values = ['--kube-version', '1.31', '--values', join(CHART, 'ci/production.yaml')];
      const rendered = helm(['template', 'test', CHART, ...values, '--set', `settings.${name}=5000`]);
      expect(
        await rendered.then(
          () => 'rendered',
          (error: { stderr: string }) => error.stderr,
        ),
      ).toContain(name);
    },
  );
});
