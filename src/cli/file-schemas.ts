import { z } from 'zod';
import { answerSchema, requestSchema } from '../shared/contract/client-files.ts';
import { RUN_FILE } from '../shared/reasoning/trace/run-file.ts';
import { exitCodes } from './terminal/exit-codes.ts';
import type { Surroundings } from './terminal/surroundings.ts';

/** An integer as a number or as text: clients read both. */
const integer = (what: string) => z.union([z.int(), z.string().regex(/^-?\d{1,19}$/)]).describe(what);
const id = (what: string) => z.union([z.int().min(1), z.string().regex(/^[1-9]\d{0,18}$/)]).describe(what);
/** 0 and null are absent. */
const idOrNone = (what: string) => z.union([z.int().min(0), z.string().regex(/^\d{0,19}$/), z.null()]).describe(what);

const status = integer('1 released, 0 released too, -1 deleted; absent counts as not released.');
const window = {
  timeType: integer('5 after start, 6 before end, 7 between, anything else always.'),
  start: integer('Epoch ms, inclusive.'),
  end: integer('Epoch ms, inclusive.'),
};

/** The members that rules and nodes both have. */
const common = {
  app: integer('The app; the published server finds no class without it.').optional(),
  name: z.string().optional(),
  status: status.optional(),
  ...z.object(window).partial().shape,
};

const rule = z
  .looseObject({
    id: id('The ruleId of a call.'),
    ...common,
    confId: idOrNone('The node it begins at; without one running it does nothing.').optional(),
    scenes: z.string().describe('Names, separated by commas.').optional(),
  })
  .describe('A rule: bases/**/{id}.json.');

const node = z
  .looseObject({
    id: id('Unique among the nodes of the app.'),
    ...common,
    type: integer(
      '0 NONE, 1 AND, 2 TRUE, 3 ALL, 4 ANY, 8 to 12 the same side by side; leaves: 5 doFlow, 6 doResult, 7 doNone.',
    ),
    sonIds: z
      .string()
      .regex(/^\s*([1-9]\d{0,18}(\s*,\s*[1-9]\d{0,18})*)?\s*$/)
      .describe('Children in order, separated by commas.')
      .optional(),
    confName: z.string().describe('Of a leaf: its class or an alias.').optional(),
    confField: z.string().describe('Of a leaf: its fields, as a JSON object in a text.').optional(),
    forwardId: idOrNone('A node that runs first: when it is FALSE, this one does not run and is FALSE.').optional(),
    inverse: z
      .union([z.boolean(), z.enum(['true', 'false'])])
      .describe('Swaps TRUE and FALSE.')
      .optional(),
    errorState: integer('What an error becomes: 0 FALSE, 1 TRUE, 2 NONE, 3 the end of the run.').optional(),
  })
  .describe('A node: confs/{id}.json.');

const update = z
  .looseObject({
    version: integer('The version that these changes make.'),
    insertOrUpdateConfs: z.array(node).describe('Whole nodes.').optional(),
    deleteConfIds: z.array(z.int()).optional(),
    insertOrUpdateBases: z.array(rule).describe('Whole rules.').optional(),
    deleteBaseIds: z.array(z.int()).optional(),
  })
  .describe('An update: versions/{n}_upd.json.');

const text = z.string();
const run = z
  .object({
    format: z.literal(RUN_FILE),
    formatVersion: z.literal(1),
    savedBy: text.describe('What saved it: the command line with its version, or the page.'),
    checksum: text.describe(
      'Of `execution` without blanks between its tokens: shows that it was changed, no signature.',
    ),
    masked: z.array(text).describe('The fields that are hidden (MASK), by their paths in the data.'),
    missing: z.array(z.enum(['input', 'result', 'tree'])).describe('What the service did not keep, or not whole.'),
    execution: z
      .looseObject({ mockId: text, app: z.number() })
      .describe('As GET /executions/{id}?include=tree tells it; the OpenAPI document has its members.'),
  })
  .describe('A saved run: *.rule-run.json.');

/** The files of an app's folder, and those that pass between workers and clients, by the name that a command line asks for. */
const files = { rule, node, update, request: requestSchema, answer: answerSchema, run };
export type SchemaName = keyof typeof files;

/** Prints the JSON Schema of one kind of file. */
export function printSchema(name: SchemaName, _options: unknown, { stdout }: Surroundings): number {
  stdout.write(schemaOf(name));
  return exitCodes.ok;
}

/** The JSON Schema (2020-12) of one kind of file. */
export function schemaOf(name: SchemaName): string {
  const described = z.toJSONSchema(files[name], { io: 'input' });
  return `${JSON.stringify(described, null, 2)}\n`;
}
