import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { CHART, hasHelm, helm } from '../support/helm.ts';
import { mayReach, type NetworkPolicy, networkPolicySchema, type Peer } from '../support/network-policies.ts';

const PRODUCTION = join(CHART, 'ci/production.yaml');
const HOME = 'rules';

const labels = z.record(z.string(), z.string());
const container = z.object({
  ports: z.array(z.object({ name: z.string(), containerPort: z.int() })).default([]),
});
const deployment = z.object({
  kind: z.literal('Deployment'),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    template: z.object({ metadata: z.object({ labels }), spec: z.object({ containers: z.array(container) }) }),
  }),
});
const pod = z.object({ kind: z.literal('Pod'), metadata: z.object({ name: z.string(), labels }) });

type Rendered = { policies: NetworkPolicy[]; pods: Record<string, Peer> };

/** Those around the service, as the values for production know them. */
const others: Record<string, Peer> = {
  ingress: { kind: 'pod', namespace: 'ingress', labels: { 'app.kubernetes.io/name': 'ingress-nginx' } },
  prometheus: { kind: 'pod', namespace: 'monitoring', labels: { 'app.kubernetes.io/name': 'prometheus' } },
  dns: { kind: 'pod', namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } },
  neighbour: { kind: 'pod', namespace: HOME, labels: { app: 'another' } },
  stranger: { kind: 'pod', namespace: 'default', labels: { app: 'another' } },
  collector: { kind: 'pod', namespace: 'tracing', labels: { app: 'collector' } },
  redis: { kind: 'address', address: '10.20.0.5' },
  internet: { kind: 'address', address: '203.0.113.9' },
};

describe.skipIf(!hasHelm())('with the values for production (needs helm)', () => {
  let rendered: Rendered;
  beforeAll(async () => {
    rendered = await render([]);
  });

  it.each([
    ['ingress', 'api', 8080],
    ['prometheus', 'api', 8080],
    ['prometheus', 'worker', 9090],
    ['test', 'api', 8080],
    ['api', 'redis', 6379],
    ['worker', 'redis', 6379],
    ['api', 'dns', 53],
    ['worker', 'dns', 53],
  ])('%s reaches %s at %i', (from, to, port) => {
    expect(reaches(rendered, from, to, port)).toBe(true);
  });

  it.each([
    ['ingress', 'worker', 9090],
    ['neighbour', 'api', 8080],
    ['neighbour', 'worker', 9090],
    ['stranger', 'api', 8080],
    ['stranger', 'worker', 9090],
    ['test', 'worker', 9090],
    ['prometheus', 'api', 22],
    ['api', 'worker', 9090],
    ['worker', 'api', 8080],
    ['api', 'internet', 443],
    ['worker', 'internet', 443],
    ['api', 'internet', 6379],
    ['worker', 'collector', 4318],
  ])('%s does not reach %s at %i', (from, to, port) => {
    expect(reaches(rendered, from, to, port)).toBe(false);
  });

  it('more ways out can be opened, for a collector of traces, and these alone', async () => {
    const rule = { ports: [{ port: 4318 }], to: [{ namespaceSelector: named('tracing') }] };
    const more = await render(['--set-json', `networkPolicy.extraEgress=${JSON.stringify([rule])}`]);
    for (const from of ['api', 'worker']) {
      expect([from, reaches(more, from, 'collector', 4318)]).toEqual([from, true]);
      expect([from, reaches(more, from, 'stranger', 4318)]).toEqual([from, false]);
    }
  });
});

const named = (namespace: string) => ({ matchLabels: { 'kubernetes.io/metadata.name': namespace } });

function reaches({ policies, pods }: Rendered, from: string, to: string, port: number): boolean {
  const [source, target] = [pods[from] ?? others[from], pods[to] ?? others[to]];
  if (!source || !target) throw new Error(`who is ${source ? to : from}?`);
  const protocol = port === 53 ? 'UDP' : 'TCP';
  return mayReach(policies, HOME, { from: source, to: target, port, protocol });
}

async function render(parameters: string[]): Promise<Rendered> {
  const documents = parseAllDocuments(await template(parameters)).map((document) => document.toJS());
  const of = <T>(schema: z.ZodType<T>) =>
    documents.flatMap((document) => {
      const parsed = schema.safeParse(document);
      return parsed.success ? [parsed.data] : [];
    });
  const pods: Record<string, Peer> = {};
  for (const { metadata, spec } of of(deployment)) {
    const role = metadata.name.endsWith('-api') ? 'api' : 'worker';
    const ports = spec.template.spec.containers.flatMap((each) => each.ports);
    pods[role] = {
      ...{ kind: 'pod', namespace: HOME, labels: spec.template.metadata.labels },
      ports: Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort])),
    };
  }
  for (const { metadata } of of(pod)) pods.test = { kind: 'pod', namespace: HOME, labels: metadata.labels };
  const policies = documents.filter((document) => document?.kind === 'NetworkPolicy');
  return { policies: z.array(networkPolicySchema).parse(policies), pods };
}

function template(parameters: string[]): Promise<string> {
  const values = ['--values', PRODUCTION, '--namespace', HOME, '--kube-version', '1.31'];
  return helm(['template', 'test', CHART, ...values, ...parameters]);
}
