import { z } from 'zod';
import { problemSchema } from '../../shared/contract/problem.ts';
import { batchOperations } from './batches/batch-operations.ts';
import { browseOperations } from './browse-operations.ts';
import { caseOperations } from './case-operations.ts';
import { executeOperations } from './execute-operations.ts';
import { executionOperations } from './execution-operations.ts';
import { createJsonSchemas, type JsonSchema } from './json-schema.ts';
import { type AnswerDoc, type Operation, PROBLEM } from './operation.ts';
import { withUsual } from './refusals.ts';
import { serviceOperations } from './service-operations.ts';

/** Everything the interface can do, in reading order. */
export const operations = [
  ...executeOperations,
  ...executionOperations,
  ...batchOperations,
  ...caseOperations,
  ...browseOperations,
  ...serviceOperations,
].map(withUsual);

const DESCRIPTION = `Press Run in a page and see what a business rule does on a real, remote client.

Every answer but a client's own result has \`success\` and \`error\`, so one reader fits all. Ids and times are int64:
read them with a parser that does not round. A wrong method is a 405 that names the right ones.

A body must not be compressed (415). Times are epoch milliseconds; ten digits are taken for seconds and refused.

No name is ignored. An unknown member of a body is refused, and so is an unknown parameter of a request that changes something: 400, with
the nearest name that is known. Where a request only reads, the answer has an unknown parameter in its \`warnings\`, or is a 400 if it is
no JSON object.`;

const TAGS: Record<Operation['tag'], string> = {
  Execute: 'Run a rule on a live client.',
  Executions: 'Every run as a resource: its states, its input and its answer.',
  Batches: 'Many runs at once, and what they came to.',
  'Saved cases': 'The cases that are kept with a rule.',
  'Rules and clients': 'What is in the shared directory.',
  Service: 'The service itself.',
};

/** The OpenAPI 3.1 description, made of the schemas that validate requests and describe answers. */
export function createOpenApiDocument(version: string) {
  const schemas = createJsonSchemas();
  const paths: Record<string, Record<string, ReturnType<typeof describe>>> = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation, schemas) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Rule server',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The host that serves this description.' }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name, description: TAGS[name] })),
    paths,
    components: {
      schemas: schemas.components(),
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description:
            'One of API_KEYS or API_KEYS_FILE, which says what it may do and for which apps. Without any configured, everybody may call.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'rule-server-session',
          description:
            'From POST /session; behind TLS its name is __Host-rule-server-session. What changes something must then come from a page of this origin.',
        },
      },
    },
  };
}

type ToJson = (schema: z.ZodType) => JsonSchema;

function describe(operation: Operation, schemas: Record<'of' | 'ofAnswer' | 'ofRead', ToJson>) {
  const { of: toJson } = schemas;
  const { method, id, tag, summary, description, open, needs, body, answers } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    ...(needs && { 'x-permission': needs }),
    security: open ? [] : [{ key: [] }, { session: [] }, {}],
    parameters: [
      ...pathParameters(operation),
      ...queryParameters(operation, toJson),
      ...headerParameters(operation, toJson),
    ],
    ...(body && {
      requestBody: {
        required: true,
        content: {
          [body.mediaType ?? 'application/json']: { schema: toJson(body.schema), examples: named(body.examples) },
        },
      },
    }),
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => {
        const isRead = method === 'get' && !open && Number(status) < 300;
        return [status, response(answer, schemas.ofAnswer, isRead ? schemas.ofRead : schemas.ofAnswer)];
      }),
    ),
  };
}

const id = { schema: { type: 'string', format: 'uuid' }, example: '5f0c1b52-8d1e-4b53-9f0e-2f6f1f1f7c11' };
type PathPart = { description: string; schema: { type: string; format: string }; example: string | number };
const pathParts: Record<string, PathPart> = {
  mockId: { description: 'The id of the execution.', ...id },
  batchId: { description: 'The id of the batch.', ...id },
  n: { description: 'The number of the item.', schema: { type: 'integer', format: 'int32' }, example: 1 },
};

function pathParameters({ path }: Operation) {
  return [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name = '']) => {
    const part = pathParts[name];
    return part ? [{ name, in: 'path', required: true, ...part }] : [];
  });
}

const parameterMeta = z.object({ description: z.string() });

function queryParameters({ query, queryExample = {} }: Operation, toJson: ToJson) {
  return Object.entries(query?.shape ?? {}).map(([name, member]) => {
    const schema = z.instanceof(z.ZodType).parse(member);
    const { description } = parameterMeta.parse(z.globalRegistry.get(schema));
    const required = !schema.safeParse(undefined).success;
    const { description: _, ...json } = toJson(schema);
    const example = queryExample[name];
    return { name, in: 'query', required, description, schema: json, ...(example !== undefined && { example }) };
  });
}

function headerParameters({ headers = [] }: Operation, toJson: ToJson) {
  return headers.map(({ name, description, schema, example }) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: toJson(schema),
    example,
  }));
}

function response({ description, headers, ...content }: AnswerDoc, toJson: ToJson, ofSchema: ToJson) {
  const {
    mediaType = 'application/json',
    otherMediaTypes = [],
    alternatives = {},
    schema,
    examples,
    problems,
  } = content;
  const contents = {
    ...(schema && { [mediaType]: { schema: ofSchema(schema), ...(examples && { examples: named(examples) }) } }),
    ...Object.fromEntries(otherMediaTypes.map((type) => [type, { schema: {} }])),
    ...Object.fromEntries(Object.entries(alternatives).map(([type, form]) => [type, { schema: ofSchema(form) }])),
    ...(problems && { [PROBLEM]: { schema: toJson(problemSchema), examples: named(problems) } }),
  };
  const described = Object.entries(headers ?? {}).map(([name, text]) => [
    name,
    { description: text, schema: { type: 'string' } },
  ]);
  return {
    description,
    ...(headers && { headers: Object.fromEntries(described) }),
    ...(Object.keys(contents).length > 0 && { content: contents }),
  };
}

function named(examples: Record<string, unknown>) {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}
