import { z } from 'zod';
import { cellTypeOf } from '../../shared/cases/csv/cell-type.ts';
import { readCsv } from '../../shared/cases/csv/csv-cases.ts';
import { createRefusals } from '../../shared/cases/document/refusal.ts';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { decodeWhole, withoutMark } from '../../shared/contract/json/utf8.ts';
import { QUERY_VERSION } from '../../shared/contract/query.ts';
import { asFault } from '../../shared/reasons/template.ts';
import type { Refused } from '../../shared/runtime/http-refusals.ts';
import type { AskWorker } from '../ask-worker.ts';
import type { CsvBatchParameters } from './parameters.ts';
import { type ReadBatch, readAgainst, readTargets } from './read-batch-request.ts';

export type ReadCsvBatch = ReturnType<typeof createReadCsvBatch>;

const schemaAnswer = z.object({ fields: z.array(z.object({ key: z.string(), valueType: z.string() })) });

/** Reads a batch of CSV rows. Their types come from what the rule reads. */
export function createReadCsvBatch({ ask }: Pick<AskWorker, 'ask'>) {
  return async function readCsvBatch(bytes: Uint8Array, parameters: CsvBatchParameters): Promise<ReadBatch | Refused> {
    const { app, ruleId, confId, concurrency, dryRun, invalid, timeZone } = parameters;
    const refusals = createRefusals();
    const targets = readTargets(parameters.targets, refusals.at('targets'));
    const against = readAgainst(parameters.against, refusals.at('against'));
    const text = decodeWhole(withoutMark(bytes));
    if (text.kind !== 'text') refusals.at('body').refuse('csv-encoding', asFault(text.fault));
    if (text.kind !== 'text' || refusals.found() > 0) return { kind: 'bad', problems: refusals.all };
    const selection = { app, ruleId, confId, lane: null, address: null };
    const reply = await ask({ v: QUERY_VERSION, ask: 'schema', ...selection });
    if (reply.kind === 'refused') return reply;
    const types = new Map(
      schemaAnswer.parse(parseJson(reply.body)).fields.map(({ key, valueType }) => [key, cellTypeOf(valueType)]),
    );
    const read = readCsv(text.text, {
      typeOf: (key) => types.get(key) ?? 'text',
      timeZone,
      skipInvalid: invalid,
    });
    if (read.kind === 'refused') return { kind: 'bad', problems: read.refusals };
    const options = { concurrency, stopAfterFailures: null, file: null, against, dryRun, ignore: null };
    const source = { kind: 'given', cases: read.cases } as const;
    const { setAside } = read;
    return { kind: 'request', request: { app, ruleId, confId, ts: null, targets, ...options, source, setAside } };
  };
}
