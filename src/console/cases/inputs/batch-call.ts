import { RECORDED_RUNS, type RecordedRun } from '../../../shared/reasoning/trace/recorded-run.ts';
import { type Batch, beginBatch, csvPath, type Verdict } from '../../api/batches.ts';
import type { Inputs } from './read-inputs.ts';

type Rule = { app: string; ruleId: string | null; confId: string | null };
/** `dryRun`: without effects. */
type Options = Rule & { targets: readonly string[]; dryRun: boolean };

/** Runs the saved cases of a rule on each target. */
export function runSaved(options: Options, key: string): Promise<Batch> {
  return send(`{${membersOf(options)},"saved":true}`, key);
}

/** Runs the cases of an earlier batch again that came to one of these verdicts, where they ran before. */
export function repeatBatch(
  rule: Rule,
  { batchId, verdicts, dryRun }: { batchId: string; verdicts: readonly Verdict[]; dryRun: boolean },
  key: string,
): Promise<Batch> {
  const what = `"from":${JSON.stringify(batchId)},"verdict":${JSON.stringify(verdicts)},"dryRun":${dryRun}`;
  return send(`{${idsOf(rule)},${what}}`, key);
}

/** Runs inputs that were given, once on each target. Rows of CSV with mistakes are left out; their times are of `timeZone`. */
export function runInputs(
  { inputs, timeZone, ...options }: Options & { inputs: Inputs; timeZone: string },
  key: string,
): Promise<Batch> {
  if (inputs.format === 'json') return send(`{${membersOf(options)},"cases":${inputs.body}}`, key);
  const { targets, dryRun, ...rule } = options;
  const invalid = inputs.setAside.cases > 0 ? 'skip' : null;
  const path = csvPath({ ...rule, targets: [...targets], dryRun: String(dryRun), invalid, timeZone });
  return beginBatch({ path, type: 'text/csv', body: inputs.body }, key);
}

/** Runs the inputs of earlier runs again, each as of the time that it ran as of, or all as of now. The decision of each is expected. */
export function runRecorded(
  { runs, asOfNow, ...options }: Options & { runs: readonly RecordedRun[]; asOfNow: boolean },
  key: string,
): Promise<Batch> {
  const cases = runs.map(({ mockId, input, ts, decision }) => {
    const when = asOfNow ? '' : `"ts":${ts},`;
    return `{"name":"${mockId}",${when}"the service":${input},"expect":{"outcome":"${decision}"}}`;
  });
  return send(`{${membersOf(options)},"file":"${RECORDED_RUNS}","cases":[${cases.join(',')}]}`, key);
}

function membersOf({ targets, dryRun, ...rule }: Options): string {
  return `${idsOf(rule)},"targets":${JSON.stringify(targets)},"dryRun":${dryRun}`;
}

/** Ids stay the digits they are. */
function idsOf({ app, ruleId, confId }: Rule): string {
  const ids = [`"app":${app}`];
  if (ruleId !== null) ids.push(`"ruleId":${ruleId}`);
  if (confId !== null) ids.push(`"confId":${confId}`);
  return ids.join(',');
}

function send(body: string, key: string): Promise<Batch> {
  return beginBatch({ type: 'application/json', body }, key);
}
