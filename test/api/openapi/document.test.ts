import { describe, expect, it } from 'vitest';
import { createOpenApiDocument, operations } from '../../../src/api/openapi/document.ts';
import { PROBLEM } from '../../../src/api/openapi/operation.ts';
import { outcomes } from '../../../src/shared/reasons/codes.ts';
import { createAnswerChecks } from '../../support/answer-checks.ts';

const description = createOpenApiDocument('1.2.3');
const checks = createAnswerChecks(description);

const statuses = operations.flatMap((operation) =>
  Object.entries(operation.answers).map(([status, answer]) => ({ operation, status: Number(status), answer })),
);

describe('the description of the interface', () => {
  it('is OpenAPI 3.1 with an id of its own for every operation', () => {
    expect(description.openapi).toBe('3.1.1');
    expect(description.info.version).toBe('1.2.3');
    const ids = operations.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('refers to no schema that is not in it', () => {
    const names = [...JSON.stringify(description).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !name || !(name in description.components.schemas))).toEqual([]);
  });

  it.each(statuses.map(({ operation, status, answer }) => [operation.id, status, answer] as const))(
    'has an example of the %s that answers %d, which matches its own schema',
    (id, status, { schema, examples, problems }) => {
      if (!schema) return expect([204, 304]).toContain(status); // an answer without a body
      const values = Object.values(examples ?? {});
      expect(values.length).toBeGreaterThan(0);
      for (const example of values) expect(checks.problems(id, status, example)).toEqual([]);
      for (const example of Object.values(problems ?? {}))
        expect(checks.problems(id, status, example, PROBLEM)).toEqual([]);
    },
  );

  it('has examples of requests that match their schemas', () => {
    for (const { id, body } of operations) {
      for (const example of Object.values(body?.examples ?? {}))
        expect(checks.bodyProblems(id, example, body?.mediaType)).toEqual([]);
    }
  });

  it('documents every outcome of an execution at its status', () => {
    const execute = operations.find(({ id }) => id === 'execute');
    for (const [code, { status }] of Object.entries(outcomes)) {
      const { examples = {}, problems = {} } = execute?.answers[status] ?? {};
      const told = Object.values({ ...examples, ...problems });
      expect(told, code).toContainEqual(expect.objectContaining({ code }));
    }
  });

  it('says of every integer how wide it is, and int64 of every id, version and time', () => {
    const wide =
      /Id$|^(ts|at|start|end|first|last|until|oldest|released|loaded|version|cycle|missing|shared)$|At$|Since$|Until$|Heartbeat$/;
    const wrong: string[] = [];
    const look = (value: unknown, path: string[]): void => {
      if (typeof value !== 'object' || value === null) return;
      const { type, format } = Object(value);
      const name = path.findLast(
        (step) => !['schema', 'items', 'anyOf', 'properties'].includes(step) && !/^\d+$/.test(step),
      );
      if ([type].flat().includes('integer') && (format === undefined || (format !== 'int64' && wide.test(name ?? ''))))
        wrong.push(path.join('.'));
      for (const [key, each] of Object.entries(value)) if (!key.startsWith('example')) look(each, [...path, key]);
    };
    look(description, []);
    expect(wrong).toEqual([]);
  });
});
