const text = { type: 'string', minLength: 1 };

/**
 * What the chart may say in the resources of others: JSON schemas of KEDA's ScaledObject (keda.sh/v1alpha1) and of the
 * Prometheus operator's ServiceMonitor and PrometheusRule (monitoring.coreos.com/v1). Strict: a member that is not here is
 * a mistake, or belongs here.
 */
export const customResources = {
  ScaledObject: resource('keda.sh/v1alpha1', {
    scaleTargetRef: members({ name: text, kind: text, apiVersion: text }, ['name']),
    minReplicaCount: whole(0),
    maxReplicaCount: whole(1),
    pollingInterval: whole(1),
    cooldownPeriod: whole(0),
    fallback: members({ failureThreshold: whole(1), replicas: whole(1) }, ['failureThreshold', 'replicas']),
    triggers: {
      type: 'array',
      minItems: 1,
      items: members(
        {
          type: { const: 'prometheus' },
          metricType: { enum: ['AverageValue', 'Value'] },
          // KEDA reads every value of a trigger as text.
          metadata: members(
            {
              serverAddress: { type: 'string', pattern: '^https?://' },
              query: text,
              threshold: { type: 'string', pattern: '^[0-9.]+$' },
              ignoreNullValues: { enum: ['true', 'false'] },
            },
            ['serverAddress', 'query', 'threshold'],
          ),
        },
        ['type', 'metadata'],
      ),
    },
  }),
  ServiceMonitor: resource('monitoring.coreos.com/v1', {
    selector: members({ matchLabels: labels() }, ['matchLabels']),
    endpoints: {
      type: 'array',
      minItems: 1,
      items: members(
        {
          port: text,
          path: text,
          interval: { type: 'string', pattern: '^[0-9]+(ms|s|m|h)$' },
          authorization: members({ credentials: members({ name: text, key: text }, ['name', 'key']) }, ['credentials']),
          relabelings: { type: 'array', items: members({ targetLabel: text, replacement: text }, ['targetLabel']) },
        },
        ['port'],
      ),
    },
  }),
  PrometheusRule: resource('monitoring.coreos.com/v1', {
    groups: {
      type: 'array',
      minItems: 1,
      items: members(
        {
          name: text,
          rules: {
            type: 'array',
            items: members(
              { alert: text, record: text, expr: text, for: text, labels: labels(), annotations: labels() },
              ['expr'],
            ),
          },
        },
        ['name', 'rules'],
      ),
    },
  }),
};

function whole(minimum: number): object {
  return { type: 'integer', minimum };
}

function labels(): object {
  return { type: 'object', additionalProperties: { type: 'string' } };
}

function members(properties: Record<string, object>, required: string[]): object {
  return { type: 'object', additionalProperties: false, properties, required };
}

function resource(apiVersion: string, spec: Record<string, object>): object {
  return members(
    {
      apiVersion: { const: apiVersion },
      kind: text,
      metadata: members({ name: text, labels: labels(), annotations: labels() }, ['name']),
      spec: members(spec, []),
    },
    ['apiVersion', 'kind', 'metadata', 'spec'],
  );
}
