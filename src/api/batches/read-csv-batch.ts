import { z } from 'zod';
import { DEFAULT_CONCURRENCY, MAX_CONCURRENCY } from '../../shared/cases/batch.ts';
import { cellTypeOf } from '../../shared/cases/csv/cell-type.ts';
import { readCsv } from '../../shared/cases/csv/csv-cases.ts';
import { createRefusals, noLines, problemOf, type Refusal } from '../../shared/cases/document/refusal.ts';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { decodeUtf8 } from '../../shared/contract/json/utf8.ts';
import { QUERY_VERSION } from '../../shared/contract/query.ts';
import type { AskWorker } from '../ask-worker.ts';
import { readParameters, selectionParameters } from '../http/parameters.ts';
import type { BatchBodyParameters } from './parameters.ts';
import { type ReadBatch, readTargets } from './read-batch-request.ts';

export type ReadCsvBatch = ReturnType<typeof createReadCsvBatch>;
type Refused = { kind: 'refused'; status: 404 | 422 | 503; error: string };

const schemaAnswer = z.object({ fields: z.array(z.object({ key: z.string(), valueType: z.string() })) });

/** Reads a batch of CSV rows: app, rule, targets, concurrency and dryRun are in the query, types come from what the rule reads. */
export function createReadCsvBatch({ ask }: Pick<AskWorker, 'ask'>) {
  return async function readCsvBatch(
    bytes: Uint8Array,
    query: Record<string, string[]>,
    { invalid, timeZone }: BatchBodyParameters,
  ): Promise<ReadBatch | Refused> {
    const { targets: given = [], concurrency = [], dryRun: [dry] = [], ...rest } = query;
    const selection = readParameters(selectionParameters, rest);
    if (selection.kind === 'bad') return selection;
    const { app, ruleId, confId } = selection.value;
    const refusals = createRefusals(noLines);
    const targets = readTargets(
      given.filter((text) => text !== ''),
      refusals,
    );
    const count = Number(concurrency[0] || DEFAULT_CONCURRENCY);
    if (!Number.isInteger(count) || count < 1 || count > MAX_CONCURRENCY)
      refusals.add(['concurrency'], `must be a whole number from 1 to ${MAX_CONCURRENCY}`);
    if (dry !== undefined && dry !== 'true' && dry !== 'false') refusals.add(['dryRun'], 'must be true or false');
    const text = decodeUtf8(withoutMark(bytes));
    if (text.kind !== 'text') refusals.add(['body'], 'is not valid UTF-8: save the file as "CSV UTF-8"');
    if (text.kind !== 'text' || refusals.found() > 0) return bad(refusals.all);
    const reply = await ask({ v: QUERY_VERSION, ask: 'schema', ...selection.value });
    if (reply.kind === 'refused') return reply;
    const types = new Map(
      schemaAnswer.parse(parseJson(reply.body)).fields.map(({ key, valueType }) => [key, cellTypeOf(valueType)]),
    );
    const read = readCsv(text.text, {
      typeOf: (key) => types.get(key) ?? 'text',
      timeZone,
      skipInvalid: invalid,
    });
    if (read.kind === 'refused') return bad(read.refusals);
    const dryRun = dry === undefined ? null : dry === 'true';
    const options = { concurrency: count, stopAfterFailures: null, file: null, dryRun, ignore: null };
    return {
      kind: 'request',
      request: { app, ruleId, confId, targets, ...options, source: { kind: 'given', cases: read.cases } },
      setAside: read.setAside,
    };
  };
}

/** Spreadsheets begin their CSV with a byte order mark. */
function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

function bad(refusals: readonly Refusal[]): ReadBatch {
  return { kind: 'bad', problems: refusals.map(problemOf) };
}
