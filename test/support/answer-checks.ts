import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { createOpenApiDocument } from '../../src/api/openapi/document.ts';

type Document = ReturnType<typeof createOpenApiDocument>;

/** Checks bodies against the schemas of an OpenAPI document, by operation id. Resolves to what is wrong with them. */
export function createAnswerChecks(document: Document) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema({ $id: 'api', ...document });
  const places = new Map<string, string>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId }] of Object.entries(methods))
      places.set(operationId, pointer('paths', path, method));
  }

  function check(place: string, value: unknown): string[] {
    const validate = ajv.getSchema(`api${place}`);
    if (!validate) return [`there is no schema at ${place}`];
    return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  }

  const contentOf = (id: string, status: number) =>
    Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .find(({ operationId }) => operationId === id)?.responses[status]?.content;

  return {
    /** `what` may be a parsed JSON body, or the text of another one. Without a media type: the first that is documented. */
    problems(id: string, status: number, what: unknown, mediaType?: string): string[] {
      const documented = Object.keys(contentOf(id, status) ?? {});
      const type = mediaType ?? documented[0] ?? '';
      if (!documented.includes(type)) return [`${id} documents ${status} as ${documented}, not as "${type}"`];
      const place = pointer('responses', String(status), 'content', type, 'schema').slice(1);
      return check(`${places.get(id)}${place}`, what);
    },
    bodyProblems: (id: string, body: unknown, mediaType = 'application/json') =>
      check(`${places.get(id)}${pointer('requestBody', 'content', mediaType, 'schema').slice(1)}`, body),
  };
}

/** A JSON pointer as the fragment of a URI (RFC 6901 §6). */
function pointer(...tokens: string[]): string {
  return `#${tokens.map((token) => `/${encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')}`;
}
