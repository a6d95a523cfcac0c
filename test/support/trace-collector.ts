import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

type Attribute = { key: string; value: { stringValue?: string } };
type OtlpSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status?: { code?: number };
};
type Batch = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
};

export type CollectedSpan = {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parent: string;
  ms: number;
  /** Its attributes that are texts. */
  told: Record<string, string>;
  failed: boolean;
};

export type TraceCollector = {
  endpoint: string;
  spans: CollectedSpan[];
  /** Everything that came in, to the letter. */
  bodies: string[];
  [Symbol.asyncDispose](): Promise<void>;
};

/** Receives traces over OTLP/HTTP with JSON, as a tracing backend does. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.method === 'POST' && request.url === '/v1/traces') {
      bodies.push(body);
      spans.push(...spansIn(JSON.parse(body)));
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    bodies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function spansIn({ resourceSpans }: Batch): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
    return scopeSpans.flatMap((scope) =>
      scope.spans.map(({ name, traceId, spanId, parentSpanId = '', startTimeUnixNano, endTimeUnixNano, ...more }) => {
        const ms = Number(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)) / 1e6;
        const texts = more.attributes.flatMap(({ key, value: { stringValue } }) =>
          stringValue === undefined ? [] : [[key, stringValue] as const],
        );
        const told = Object.fromEntries(texts);
        return { service, name, traceId, spanId, parent: parentSpanId, ms, told, failed: more.status?.code === 2 };
      }),
    );
  });
}
