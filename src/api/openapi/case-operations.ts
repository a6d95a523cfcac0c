import { z } from 'zod';
import { problemSchema } from '../../shared/contract/problem.ts';
import {
  changedCases,
  readCasesSchema,
  savedCasesListSchema,
  savedCasesSchema,
} from '../../shared/contract/saved-cases.ts';
import { problemAt } from '../../shared/reasons/problems.ts';
import { refusalOf } from '../../shared/runtime/http-refusals.ts';
import { casesParameters } from '../cases/parameters.ts';
import { problem } from './examples.ts';
import { asJson } from './json-schema.ts';
import { type AnswerDoc, type HeaderDoc, type Operation, PROBLEM } from './operation.ts';
import { badQuestion, refusal } from './refusals.ts';

const CASES = '/rule-server/mock/cases';
const common = { tag: 'Saved cases', path: CASES } as const;

const YAML = 'application/yaml';
const ETAG = `"${'9f'.repeat(32)}"`;
const EXAMPLE = `app: 9001
ruleId: 1
cases:
  - name: spends 120
    input: { uid: 9007199254740993, cost: 120.10 }
    expect: { outcome: TRUE }
`;

const changedAnswer = problemSchema.extend(changedCases).meta({
  id: 'ChangedCases',
  description: 'The saved cases are not those that the caller read: their ETag, and the cases that differ.',
});

const ifMatch: HeaderDoc = {
  name: 'If-Match',
  description: 'The ETag of the saved cases that are changed. Without it, If-None-Match is required.',
  schema: z.string(),
  example: ETAG,
  needed: true,
};
const ifNoneMatch: HeaderDoc = {
  name: 'If-None-Match',
  description: '`*`: there are no saved cases yet.',
  schema: z.string(),
  example: '*',
};
const saved: AnswerDoc = {
  description: 'They are saved.',
  schema: savedCasesSchema,
  examples: { saved: { etag: ETAG, cases: 1 } },
  headers: { ETag: 'The SHA-256 of the text, for the next change.' },
};
const changed: AnswerDoc = {
  description: 'They are not those with this ETag any more. Nothing was changed.',
  mediaType: PROBLEM,
  schema: changedAnswer,
  examples: {
    changed: {
      ...problem(refusalOf('cases-changed', {})),
      etag: ETAG,
      cases: ['spends 120'],
    },
  },
};
const broken = refusal('The file cannot be used.', 'cases-file-unusable', { problem: 'link' });
const tooLarge = refusal('More than 1 MiB.', 'body-too-large', { maxBytes: 1_048_576 });
const unconditional = refusal('Without a precondition.', 'precondition-missing', {});
const bad = badQuestion(
  'A parameter or the document is wrong.',
  problemAt('cases[0].input.cost', 'no-json-number', { number: '012', line: 5 }),
);
const changes = {
  query: casesParameters,
  queryExample: { app: 9001, ruleId: 1 },
  headers: [ifMatch, ifNoneMatch],
};
const ofChange = { 400: bad, 412: changed, 422: broken, 428: unconditional };

/** The saved cases of a rule or a node, as one YAML document. */
export const caseOperations: Operation[] = [
  {
    ...common,
    method: 'get',
    needs: 'read',
    id: 'readCases',
    summary: 'Read saved cases, or list which there are',
    description:
      'With `ruleId` or `confId` the document as it was saved, or, with `Accept: application/json`, its cases as calls have them, or no case and a null ETag where none is saved; with `app` alone a list, as JSON.',
    query: casesParameters,
    queryExample: { app: 9001, ruleId: 1 },
    answers: {
      200: {
        description: 'The document, or the list.',
        mediaType: YAML,
        // Its text, or what a reader of YAML makes of that.
        schema: asJson({}),
        examples: { cases: EXAMPLE },
        alternatives: { 'application/json': z.union([savedCasesListSchema, readCasesSchema]) },
        headers: { ETag: 'The SHA-256 of the text.' },
      },
      304: { description: 'The caller has it already (If-None-Match).' },
      400: bad,
      404: refusal('There is no document.', 'no-saved-cases', { app: 9001, ruleId: '1' }),
      422: broken,
    },
  },
  {
    ...common,
    ...changes,
    needs: 'cases',
    method: 'put',
    id: 'replaceCases',
    summary: 'Save cases',
    description: 'The text is kept as it is. Inputs stay until they are removed.',
    body: { mediaType: YAML, schema: z.string(), examples: { cases: EXAMPLE } },
    answers: { 200: saved, 413: tooLarge, ...ofChange },
  },
  {
    ...common,
    ...changes,
    needs: 'cases',
    method: 'post',
    id: 'changeCases',
    summary: 'Put one case into the saved ones, or take one out',
    description: 'Everything else in the document stays as it is, comments too. With both, the case is renamed.',
    body: {
      schema: z
        .object({
          upsert: z.looseObject({ name: z.string() }).optional().meta({ description: 'A case as documents write it.' }),
          remove: z.string().nullable().optional().meta({ description: 'The name of a case.' }),
        })
        .meta({ id: 'CasesChange' }),
      examples: { upsert: { upsert: { name: 'spends 120', input: { cost: 120.1 }, expect: { outcome: 'TRUE' } } } },
    },
    answers: { 200: saved, 413: tooLarge, ...ofChange },
  },
  {
    ...common,
    ...changes,
    needs: 'cases',
    method: 'delete',
    id: 'removeCases',
    summary: 'Remove saved cases',
    answers: { 204: { description: 'They are removed.' }, ...ofChange },
  },
];
