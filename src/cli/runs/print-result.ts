import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import type { Execution } from '../../shared/contract/execution.ts';
import { itemsOf, memberOf, textOf } from '../../shared/json-tree/members.ts';
import { compactJson, prettyJson } from '../../shared/json-tree/print-json.ts';
import { type Json, readJson } from '../../shared/json-tree/read-json.ts';

/** A result as a person reads it: how it went, the data after it, and where the time went. */
export function resultLines({ result, outcome, address, warnings, timings }: Execution): string {
  const read = readJson(result ?? 'null');
  const answer = read.kind === 'ok' ? read.root : undefined;
  const lines: string[] = outcome === null ? [] : [outcome];
  const error = textOf(memberOf(answer, 'error'));
  if (error !== null) lines.push(error);
  lines.push(...dryRunLines(answer));
  const process = memberOf(answer, 'process');
  if (process && process.kind !== 'null') lines.push(textOf(process) ?? prettyJson(process));
  const data = memberOf(answer, DATA_FIELD);
  if (data && memberOf(answer, 'code') === undefined) lines.push(prettyJson(data));
  for (const { code, message } of warnings) lines.push(`Warning (${code}): ${message}`);
  lines.push(`${address === null ? '' : `${address}: `}${timingLine(timings)}`);
  return `${lines.join('\n')}\n`;
}

/** Says of a dry run which nodes were not called, which were stubbed, and which may have had effects. */
function dryRunLines(answer: Json | undefined): string[] {
  const effects = memberOf(answer, 'effects');
  const dryRun = memberOf(answer, 'dryRun');
  if (dryRun?.kind !== 'boolean' || !dryRun.value || effects === undefined) return [];
  const named = (kind: string, words: string): string[] => {
    const ids = itemsOf(memberOf(effects, kind)).map((id) => `#${compactJson(id)}`);
    return ids.length > 0 ? [`${words} ${ids.join(', ')}.`] : [];
  };
  const unsure = named('unsure', 'Called, though they do not say whether they have effects:');
  const about = unsure.length === 0 ? ['Dry run: it had no effects.'] : ['Dry run.', ...unsure];
  return [
    [...about, ...named('assumed', 'Not called, and counted as TRUE:'), ...named('stubbed', 'Stubbed:')].join(' '),
  ];
}

function timingLine({ queued, pickUp, running, noticing, total }: Execution['timings']): string {
  const named = { queue: queued, 'pick-up': pickUp, rule: running, noticing };
  const parts = Object.entries(named).flatMap(([name, ms]) =>
    typeof ms === 'number' ? [`${name} ${inSeconds(ms)}`] : [],
  );
  return `${inSeconds(total ?? 0)}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`;
}

const inSeconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
