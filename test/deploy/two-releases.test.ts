import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHART, hasHelm, helm } from '../support/helm.ts';

const RELEASES = [
  ['orders', 'one'],
  ['others', 'one'],
  ['orders', 'two'],
] as const;

describe.skipIf(!hasHelm())('releases of the chart in one cluster (needs helm)', () => {
  it('each is scaled by its own load', async () => {
    const queries = [];
    for (const [release, namespace] of RELEASES) {
      const parameters = ['--kube-version', '1.31', '--values', join(CHART, 'ci/keda.yaml'), '--namespace', namespace];
      const text = await helm(['template', release, CHART, ...parameters]);
      queries.push(/^ +query: (.+)$/m.exec(text)?.[1]);
    }
    expect(new Set(queries).size).toBe(RELEASES.length);
  });
});
