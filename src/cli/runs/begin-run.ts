import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { executeBody } from '../../shared/contract/execute-body.ts';
import { acceptedSchema } from '../../shared/contract/execution.ts';
import { type HttpApi, postOnce, readAnswer } from '../terminal/http-api.ts';
import { typedNumber } from '../terminal/typed-number.ts';

/** The run that was asked for: rule, target and input, every number as it was typed. */
export type Run = {
  app: string;
  ruleId?: string | undefined;
  confId?: string | undefined;
  ts?: string | undefined;
  target?: string | undefined;
  idempotencyKey?: string | undefined;
  /** Without effects. `stub`: the replacements of nodes, as JSON text. */
  dryRun?: boolean | undefined;
  stub?: string | undefined;
};

/** Has a rule run with `data`, a JSON object as text. Resolves to its mockId as soon as it is on its way. */
export async function beginRun(api: HttpApi, run: Run, data: string): Promise<string> {
  const headers = { 'content-type': 'application/json', prefer: 'respond-async' };
  const { app, ruleId, confId, ts, target, dryRun, stub } = run;
  const ids = { app: typed(app), ruleId: typed(ruleId), confId: typed(confId), ts: typed(ts) };
  const body = executeBody({ ...ids, dryRun, stub, target, [DATA_FIELD]: data });
  const call = { key: run.idempotencyKey, headers, body };
  return readAnswer(acceptedSchema, await postOnce(api, '/rule-server/mock/execute', call)).mockId;
}

const typed = (value: string | undefined) => (value === undefined ? null : typedNumber(value));
