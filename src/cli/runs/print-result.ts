import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import type { Execution } from '../../shared/contract/execution.ts';
import { parseExact } from '../../shared/contract/json/exact-json.ts';
import { type ExactValue, RawNumber, stringifyExact } from '../../shared/contract/json/raw-number.ts';

/** A result as a person reads it: how it went, the data after it, and where the time went. */
export function resultLines({ result, outcome, address, warnings, timings }: Execution): string {
  const answer = parseExact(result ?? 'null');
  const lines: string[] = outcome === null ? [] : [outcome];
  const error = memberOf(answer, 'error');
  if (typeof error === 'string') lines.push(error);
  lines.push(...dryRunLines(answer));
  const process = memberOf(answer, 'process');
  if (process !== null) lines.push(typeof process === 'string' ? process : prettyJson(process));
  const data = memberOf(answer, DATA_FIELD);
  if (memberOf(answer, 'code') === null && data !== null) lines.push(prettyJson(data));
  for (const { code, message } of warnings) lines.push(`Warning (${code}): ${message}`);
  lines.push(`${address === null ? '' : `${address}: `}${timingLine(timings)}`);
  return `${lines.join('\n')}\n`;
}

/** Says of a dry run which nodes were not called, which were stubbed, and which may have had effects. */
function dryRunLines(answer: ExactValue): string[] {
  const effects = memberOf(answer, 'effects');
  if (memberOf(answer, 'dryRun') !== true || effects === null) return [];
  const named = (kind: string, words: string): string[] => {
    const ids = memberOf(effects, kind);
    return Array.isArray(ids) && ids.length > 0
      ? [`${words} ${ids.map((id) => `#${stringifyExact(id)}`).join(', ')}.`]
      : [];
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

function memberOf(value: ExactValue, name: string): ExactValue {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && name in value ? (Object.entries(value).find(([key]) => key === name)?.[1] ?? null) : null;
}

/** A value as indented JSON, every number as it was written. */
function prettyJson(value: ExactValue, indent = ''): string {
  if (value instanceof RawNumber) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const deeper = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((item) => `${deeper}${prettyJson(item, deeper)}`)
    : Object.entries(value).map(([key, member]) => `${deeper}${JSON.stringify(key)}: ${prettyJson(member, deeper)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}
