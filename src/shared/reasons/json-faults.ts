import { fillTemplate, type ParamsOf } from './template.ts';

/** What can be wrong with a JSON text. */
export const jsonFaults = {
  'json-early': 'it ends too early',
  'json-twice': 'the key {key} stands twice',
  'json-after': 'unexpected {found} after the end of the JSON value',
  'json-unexpected': 'unexpected {found}',
  'json-deep': 'nested deeper than {levels} levels',
  'json-key': 'expected a key in double quotes, found {found}',
  'json-expected': 'expected {expected}, found {found}',
  'json-control': 'a control character in a string must be escaped',
  'json-escape': '{found} is not an escape JSON knows',
  'json-hexadecimal': '\\u must be followed by four hexadecimal digits',
  'json-value': '{found} is not a JSON value',
  'json-number': 'the number {number} must go on with a digit, found {found}',
} as const;

export type JsonFault = { reason: keyof typeof jsonFaults; params: Record<string, string | number> };

export const jsonFault = <Of extends keyof typeof jsonFaults>(
  reason: Of,
  params: ParamsOf<(typeof jsonFaults)[Of]>,
): JsonFault => ({ reason, params: { ...params } });

export const wordsOfJsonFault = ({ reason, params }: JsonFault): string => fillTemplate(jsonFaults[reason], params);
