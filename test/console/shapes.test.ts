import { expect, test } from 'vitest';
import { z } from 'zod';
import { readAs } from '../../src/console/api/read-answer.ts';
import * as shapes from '../../src/console/api/shapes.ts';
import * as batches from '../../src/shared/contract/batches.ts';
import { callerSchema } from '../../src/shared/contract/caller.ts';
import { decoders } from '../../src/shared/contract/decoders.ts';
import * as executions from '../../src/shared/contract/execution.ts';
import { RawNumber, stringifyExact } from '../../src/shared/contract/json/raw-number.ts';
import { readProblemSchema } from '../../src/shared/contract/problem.ts';
import { readinessSchema } from '../../src/shared/contract/readiness.ts';
import * as rules from '../../src/shared/contract/rules-and-clients.ts';
import * as cases from '../../src/shared/contract/saved-cases.ts';
import * as wire from '../../src/shared/contract/wire.ts';

const answers: [string, z.ZodType, shapes.Shape<unknown>][] = [
  ['accepted', executions.acceptedSchema.pick({ mockId: true }), shapes.begun],
  ['apps', rules.appsSchema, shapes.apps],
  ['batch', batches.batchBodySchema, shapes.batch],
  ['batches', batches.batchListSchema, shapes.batches],
  ['caller', callerSchema, shapes.caller],
  ['clients', rules.clientListSchema, shapes.clients],
  ['coverage', batches.coverageSchema, shapes.coverage],
  ['execution', executions.executionSchema, shapes.execution],
  ['executions', executions.executionListSchema, shapes.executions],
  ['failures', executions.failuresSchema, shapes.failures],
  ['item', batches.wholeItemSchema, shapes.item],
  ['items', batches.itemListSchema, shapes.items],
  ['kept', executions.keptSchema, shapes.kept],
  ['problem', readProblemSchema, shapes.problem],
  ['read cases', cases.readCasesSchema, shapes.readCases],
  ['readiness', readinessSchema, shapes.readiness],
  ['record', executions.executionRecordSchema, shapes.record],
  ['rules', rules.ruleListSchema, shapes.rules],
  ['rule versions', rules.ruleVersionsSchema, shapes.ruleVersions],
  ['saved cases', cases.savedCasesSchema, shapes.savedCases],
  ['schema', rules.schemaSchema, shapes.schema],
  ['state event', executions.stateEventSchema, shapes.stateEvent],
  ['tree', rules.treeSchema, shapes.tree],
];

test.each(answers)('%s: the page reads what the schema reads, and refuses what it refuses', (_, schema, shape) => {
  const random = numbersFrom(7);
  for (let n = 0; n < 60; n++) {
    const answer = answerOf(schema, random);
    for (const body of [answer, ...damaged(answer, random)].map(stringifyExact)) {
      const byPage = orError(() => readAs(shape, body));
      expect(byPage, body).toEqual(orError(() => wire.readAs(schema, body)));
    }
  }
});

const orError = (read: () => unknown) => {
  try {
    return read();
  } catch {
    return 'refused';
  }
};

type Random = (below: number) => number;

/** The same numbers in each run. */
function numbersFrom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Something that a schema can read, as JSON has it. */
function answerOf(schema: z.core.$ZodType, random: Random, depth = 0): unknown {
  const inside = (member: z.core.$ZodType) => answerOf(member, random, depth + 1);
  const some = (member: z.core.$ZodType) => Array.from({ length: depth > 5 ? 0 : random(3) }, () => inside(member));
  if (schema instanceof z.ZodCodec) {
    const integer = () => new RawNumber(['0', '-7', '9007199254740993', '1700000000000'][random(4)] ?? '1');
    const { transform } = schema.def;
    if (transform === decoders.json) return { a: [new RawNumber('1.50'), 'text', null] };
    return transform === decoders.missing ? [true, 'setting', new RawNumber('2.0')][random(3)] : integer();
  }
  if (schema instanceof z.ZodString) return ['', 'name', '“text” \u2028'][random(3)];
  if (schema instanceof z.ZodBoolean) return random(2) === 0;
  if (schema instanceof z.ZodEnum) return schema.options[random(schema.options.length)];
  if (schema instanceof z.ZodLiteral) return [...schema.values][0];
  if (schema instanceof z.ZodNullable) return random(3) === 0 || depth > 5 ? null : inside(schema.unwrap());
  if (schema instanceof z.ZodOptional) return random(3) === 0 ? undefined : inside(schema.unwrap());
  if (schema instanceof z.ZodCatch) return inside(schema.unwrap());
  if (schema instanceof z.ZodUnion) return inside(schema.options[random(schema.options.length)] ?? wire.text);
  if (schema instanceof z.ZodArray) return some(schema.element);
  if (schema instanceof z.ZodRecord) {
    const keys = schema.keyType instanceof z.ZodEnum ? schema.keyType.options : ['one', 'two'];
    return Object.fromEntries(keys.map((key) => [key, inside(schema.valueType)]));
  }
  if (schema instanceof z.ZodObject)
    return Object.fromEntries(Object.entries(schema.shape).map(([name, member]) => [name, inside(member)]));
  throw new TypeError(schema._zod.def.type);
}

/** The answer of another version: a member is missing, or of another kind. */
function damaged(answer: unknown, random: Random): unknown[] {
  const change = (edit: (members: { [name: string]: unknown }, name: string) => void) => {
    const copy: unknown = structuredCloneOf(answer);
    const objects = objectsIn(copy);
    const members = objects[random(objects.length)] ?? {};
    const names = Object.keys(members);
    edit(members, names[random(names.length)] ?? '');
    return copy;
  };
  return [
    change((members, name) => {
      delete members[name];
    }),
    ...[null, 'other', new RawNumber('1.5'), false, [], {}].map((other) =>
      change((members, name) => {
        if (name !== '') members[name] = other;
      }),
    ),
  ];
}

function structuredCloneOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(structuredCloneOf);
  if (!isMembers(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, structuredCloneOf(member)]));
}

const isMembers = (value: unknown): value is { [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RawNumber);

function objectsIn(value: unknown): { [name: string]: unknown }[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return isMembers(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : [];
}
