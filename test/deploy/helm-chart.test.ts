import { execFile, execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { readSettings } from '../../src/shared/runtime/settings/settings.ts';
import { customResources } from './custom-resources.ts';

const CHART = join(import.meta.dirname, '../../deploy/helm/rule-server');
const VALUES = readdirSync(join(CHART, 'ci'));
const run = promisify(execFile);

const variable = z.object({ name: z.string(), value: z.string() });
const container = z.object({
  name: z.string(),
  env: z.array(variable).default([]),
  lifecycle: z.object({ preStop: z.object({ exec: z.object({ command: z.array(z.string()) }) }) }).optional(),
  securityContext: z.object({ readOnlyRootFilesystem: z.literal(true), allowPrivilegeEscalation: z.literal(false) }),
});
const pod = z.object({
  enableServiceLinks: z.literal(false),
  terminationGracePeriodSeconds: z.number().default(30),
  securityContext: z.object({ runAsNonRoot: z.literal(true) }),
  volumes: z.array(z.object({ name: z.string() })).default([]),
  containers: z.array(container).min(1),
});
const deployment = z.object({
  kind: z.literal('Deployment'),
  metadata: z.object({ name: z.string() }),
  spec: z.object({ replicas: z.number().optional(), template: z.object({ spec: pod }) }),
});
const anyResource = z.looseObject({ kind: z.string(), stringData: z.record(z.string(), z.string()).optional() });

describe.skipIf(!hasHelm())('the Helm chart (needs helm)', () => {
  it.each(VALUES)('%s: the service accepts the settings of every pod', async (values) => {
    const resources = await render(values);
    const secret = resources.find(({ kind }) => kind === 'Secret')?.stringData ?? {};
    for (const { spec } of deploymentsOf(resources)) {
      for (const { env } of spec.template.spec.containers) {
        const environment = { ...secret, ...Object.fromEntries(env.map(({ name, value }) => [name, value])) };
        expect(() => readSettings(environment)).not.toThrow();
      }
    }
  });

  it.each(VALUES)('%s: the resources of others are as KEDA and the Prometheus operator know them', async (values) => {
    const ajv = new Ajv({ allErrors: true });
    const schemas = new Map(Object.entries(customResources));
    for (const resource of await render(values)) {
      const schema = schemas.get(resource.kind);
      if (schema) expect(ajv.validate(schema, resource), ajv.errorsText()).toBe(true);
    }
  });

  it('an API pod gets the pause before it stops, the time of its open calls, and ten seconds more', async () => {
    for (const [values, graceSeconds] of [
      ['production.yaml', 75],
      ['certificates.yaml', 120],
    ] as const) {
      const [api] = deploymentsOf(await render(values)).filter(({ metadata }) => metadata.name.endsWith('-api'));
      const [{ env, lifecycle } = { env: [] }] = api?.spec.template.spec.containers ?? [];
      const pauseSeconds = Number(lifecycle?.preStop.exec.command.at(-1));
      expect(env).toContainEqual({ name: 'SHUTDOWN_GRACE_MS', value: String(graceSeconds * 1000) });
      expect(api?.spec.template.spec.terminationGracePeriodSeconds).toBe(pauseSeconds + graceSeconds + 10);
    }
  });

  it('only workers see the shared directory', async () => {
    const mounts = deploymentsOf(await render('production.yaml')).map(({ metadata, spec }) => [
      metadata.name,
      spec.template.spec.volumes.some(({ name }) => name === 'shared'),
    ]);
    expect(Object.fromEntries(mounts)).toEqual({
      'test-rule-server-api': false,
      'test-rule-server-worker': true,
    });
  });

  it('who scales decides on the number of pods alone', async () => {
    for (const values of ['keda.yaml', 'cpu.yaml']) {
      const worker = deploymentsOf(await render(values)).find(({ metadata }) => metadata.name.endsWith('-worker'));
      expect(worker?.spec.replicas, values).toBeUndefined();
    }
  });

  it.each([
    [['--set', 'redis.example=true,settings.ALLOW_ANONYMOUS=1'], 'sharedDirectory.existingClaim is missing'],
    [['--set', 'sharedDirectory.existingClaim=x,settings.ALLOW_ANONYMOUS=1'], 'there is no Redis'],
    [['--set', 'sharedDirectory.existingClaim=x,redis.example=true'], 'anybody in the cluster could run rules'],
    [['--values', valuesFile('production.yaml'), '--set', 'worker.replica=3'], "'replica' not allowed"],
    [['--values', valuesFile('production.yaml'), '--set', 'settings.PORT=80'], 'settings.PORT is set by the chart'],
    [['--values', valuesFile('keda.yaml'), '--set', 'worker.keda.minReplicas=1'], 'minReplicas'],
    [['--values', valuesFile('keda.yaml'), '--set', 'worker.autoscaling.enabled=true'], 'exclude each other'],
    [['--values', valuesFile('production.yaml'), '--set', 'secret.API_KEYS=x'], 'exclude each other'],
  ])('%j is refused with a reason', async (parameters, reason) => {
    await expect(helmTemplate(parameters)).rejects.toThrow(reason);
  });
});

async function render(values: string): Promise<z.infer<typeof anyResource>[]> {
  const text = await helmTemplate(['--values', valuesFile(values)]);
  const documents = parseAllDocuments(text).map((document) => document.toJS());
  return z.array(anyResource).parse(documents.filter((document) => document !== null));
}

async function helmTemplate(parameters: string[]): Promise<string> {
  const { stdout } = await run('helm', ['template', 'test', CHART, '--kube-version', '1.31', ...parameters]);
  return stdout;
}

function deploymentsOf(resources: { kind: string }[]): z.infer<typeof deployment>[] {
  return resources.filter(({ kind }) => kind === 'Deployment').map((resource) => deployment.parse(resource));
}

function valuesFile(name: string): string {
  return join(CHART, 'ci', name);
}

function hasHelm(): boolean {
  try {
    execFileSync('helm', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
