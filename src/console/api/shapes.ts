import { z } from 'zod';
import * as batchAnswers from '../../shared/contract/batches.ts';
import { callerSchema } from '../../shared/contract/caller.ts';
import { type Decoder, decoders } from '../../shared/contract/decoders.ts';
import { isEndState, stateSchema } from '../../shared/contract/endings/states.ts';
import * as executionAnswers from '../../shared/contract/execution.ts';
import { readProblemSchema } from '../../shared/contract/problem.ts';
import { readinessSchema } from '../../shared/contract/readiness.ts';
import * as ruleAnswers from '../../shared/contract/rules-and-clients.ts';
import { readCasesSchema, savedCasesSchema } from '../../shared/contract/saved-cases.ts';

/**
 * This module runs when the page is built: the page gets its exports as data (see `vite.config.ts`). Thus each answer has one schema, that of
 * the contract, and neither the schemas nor Zod are fetched with the page.
 */

/** The shape of an answer: a place in `table`. Other places are named by their numbers. */
export type Shape<T> = { at: number; of?: T };
type Row =
  | readonly ['text' | 'boolean' | Decoder]
  | readonly ['nullable' | 'optional' | 'lenient' | 'array' | 'record', number]
  | readonly ['enum', readonly unknown[]]
  | readonly ['union', readonly number[]]
  | readonly ['object', Readonly<Record<string, number>>];

export const table: Row[] = [];
const places = new Map<object | string, number>();

function placeOf(schema: z.core.$ZodType): number {
  const { def } = schema._zod;
  const known = places.get(def);
  if (known !== undefined) return known;
  // A node of a tree holds nodes: an object has its place before its members.
  if (schema instanceof z.ZodObject) places.set(def, table.push(['object', {}]) - 1);
  const row = rowOf(schema);
  const written = JSON.stringify(row);
  const at = places.get(def) ?? places.get(written) ?? table.length;
  table[at] = row;
  places.set(def, at).set(written, at);
  return at;
}

function rowOf(schema: z.core.$ZodType): Row {
  if (schema instanceof z.ZodString) return ['text'];
  if (schema instanceof z.ZodBoolean) return ['boolean'];
  if (schema instanceof z.ZodCodec) return [decoderOf(schema)];
  if (schema instanceof z.ZodNullable) return ['nullable', placeOf(schema.unwrap())];
  if (schema instanceof z.ZodOptional) return ['optional', placeOf(schema.unwrap())];
  if (schema instanceof z.ZodCatch) return ['lenient', placeOf(schema.unwrap())];
  if (schema instanceof z.ZodArray) return ['array', placeOf(schema.element)];
  if (schema instanceof z.ZodEnum) return ['enum', schema.options];
  if (schema instanceof z.ZodLiteral) return ['enum', [...schema.values]];
  if (schema instanceof z.ZodUnion) return ['union', schema.options.map(placeOf)];
  if (schema instanceof z.ZodRecord) {
    const { keyType, valueType } = schema;
    if (!(keyType instanceof z.ZodEnum)) return ['record', placeOf(valueType)];
    return ['object', Object.fromEntries(keyType.options.map((key) => [key, placeOf(valueType)]))];
  }
  if (schema instanceof z.ZodObject)
    return [
      'object',
      Object.fromEntries(Object.entries(schema.shape).map(([name, member]) => [name, placeOf(member)])),
    ];
  throw new TypeError(`the page cannot read a ${schema._zod.def.type}`);
}

const decoderNames: readonly Decoder[] = ['integer', 'int64', 'json', 'missing'];

function decoderOf(codec: z.ZodCodec): Decoder {
  const name = decoderNames.find((each) => codec.def.transform === decoders[each]);
  if (name === undefined) throw new TypeError('the page has no decoder for a codec');
  return name;
}

const shapeOf = <Schema extends z.ZodType>(schema: Schema): Shape<z.output<Schema>> => ({ at: placeOf(schema) });

export const begun = shapeOf(executionAnswers.acceptedSchema.pick({ mockId: true }));
export const apps = shapeOf(ruleAnswers.appsSchema);
export const batch = shapeOf(batchAnswers.batchBodySchema);
export const batches = shapeOf(batchAnswers.batchListSchema);
export const caller = shapeOf(callerSchema);
export const clients = shapeOf(ruleAnswers.clientListSchema);
export const coverage = shapeOf(batchAnswers.coverageSchema);
export const execution = shapeOf(executionAnswers.executionSchema);
export const executions = shapeOf(executionAnswers.executionListSchema);
export const failures = shapeOf(executionAnswers.failuresSchema);
export const item = shapeOf(batchAnswers.wholeItemSchema);
export const items = shapeOf(batchAnswers.itemListSchema);
export const kept = shapeOf(executionAnswers.keptSchema);
export const problem = shapeOf(readProblemSchema);
export const readCases = shapeOf(readCasesSchema);
export const readiness = shapeOf(readinessSchema);
export const record = shapeOf(executionAnswers.executionRecordSchema);
export const rules = shapeOf(ruleAnswers.ruleListSchema);
export const ruleVersions = shapeOf(ruleAnswers.ruleVersionsSchema);
export const savedCases = shapeOf(savedCasesSchema);
export const schema = shapeOf(ruleAnswers.schemaSchema);
export const stateEvent = shapeOf(executionAnswers.stateEventSchema);
export const tree = shapeOf(ruleAnswers.treeSchema);

export const endStates = stateSchema.options.filter(isEndState);
