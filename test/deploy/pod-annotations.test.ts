import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { CHART, hasHelm, helm } from '../support/helm.ts';

const [ONE, OTHER] = ['console:0123456789abcdef0123', 'console:another-key-of-the-console'];
const COMMON = [
  ...['--kube-version', '1.31', '--values', join(CHART, 'ci/production.yaml')],
  ...['--set', 'existingSecret=', '--set-string', 'secret.REDIS_URL=redis://redis:6379'],
];
const deploymentSchema = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({ template: z.object({ metadata: z.object({ annotations: z.record(z.string(), z.string()) }) }) }),
});

describe.skipIf(!hasHelm())('what a chart with a secret of its own renders (needs helm)', () => {
  it('is the same for another secret, apart from the Secret itself: annotations tell nothing of it', async () => {
    const [one, other] = [await render({ keys: ONE }), await render({ keys: OTHER })];
    const secrets = (documents: Rendered) => documents.filter(({ kind }) => kind === 'Secret');
    const others = (documents: Rendered) => documents.filter(({ kind }) => kind !== 'Secret');
    expect(secrets(one)).not.toEqual(secrets(other));
    expect(others(one)).toEqual(others(other));
    expect(Object.keys(annotationsOf(one)).sort()).toEqual(['test-rule-server-api', 'test-rule-server-worker']);
  });

  it('has neither the secret nor a digest of it, in any usual form, outside of the Secret', async () => {
    const outside = JSON.stringify((await render({ keys: ONE })).filter(({ kind }) => kind !== 'Secret'));
    const texts = [ONE, JSON.stringify(ONE), JSON.stringify({ API_KEYS: ONE })].flatMap(formsOf);
    expect(texts.filter((text) => outside.includes(text))).toEqual([]);
  });

  it('has other annotations for other settings, so that an upgrade replaces the pods', async () => {
    const [one, other] = [
      await render({ keys: ONE }),
      await render({ keys: ONE, settings: 'RESULT_TIMEOUT_MS=54321' }),
    ];
    for (const name of ['test-rule-server-api', 'test-rule-server-worker']) {
      expect(annotationsOf(one)[name]).not.toEqual(annotationsOf(other)[name]);
      expect(annotationsOf(one)[name]).toHaveProperty('rule-server/revision', '1');
    }
  });
});

type Rendered = { kind: string }[];

async function render({ keys, settings }: { keys: string; settings?: string }): Promise<Rendered> {
  const set = [
    '--set-string',
    `secret.API_KEYS=${keys}`,
    ...(settings ? ['--set-string', `settings.${settings}`] : []),
  ];
  const documents = parseAllDocuments(await helm(['template', 'test', CHART, ...COMMON, ...set]));
  const values = documents.map((document) => document.toJS()).filter((value) => value !== null);
  return z.array(z.looseObject({ kind: z.string() })).parse(values);
}

/** Those of the pods, by deployment. */
function annotationsOf(documents: Rendered): Record<string, Record<string, string>> {
  const deployments = documents
    .filter(({ kind }) => kind === 'Deployment')
    .map((found) => deploymentSchema.parse(found));
  return Object.fromEntries(
    deployments.map(({ metadata, spec }) => [metadata.name, spec.template.metadata.annotations]),
  );
}

/** A text as it is, in base64, and its digests. */
function formsOf(text: string): string[] {
  const digests = ['md5', 'sha1', 'sha256', 'sha512'].flatMap((name) => {
    const digest = createHash(name).update(text).digest();
    return [digest.toString('hex'), digest.toString('base64')];
  });
  return [text, Buffer.from(text).toString('base64'), ...digests];
}
