import { fillWithCauses, givenOf, type Params, type ParamsOf } from './template.ts';

/** Where a fault of JSON is, after what it is. */
export const JSON_FAULT = '{fault}[ at character {at}][ in {where}]';

/** What can be wrong with a JSON text. */
export const jsonFaults = {
  'json-early': 'it ends too early[, after {length} characters]',
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

/** What can be wrong with what somebody wrote. The page finds such faults itself, so it needs these words before any others. */
export const textFaults = {
  'byte-order-mark': 'starts with a byte order mark; UTF-8 has to be without one',
  'utf-16': 'is UTF-16, not UTF-8',
  'not-utf-8': 'is not valid UTF-8: byte {byte} of line {line} is {value}',
  changing: 'changed while it was read',
  'not-json': `is not JSON: ${JSON_FAULT}`,
  'no-run-file': 'is no saved run',
  // A target.
  'target-form': 'must be one of {forms}, found {found}',
  'target-nameless': 'names no {kind}: write "{form}"',
  'target-unseen': 'the {kind} contains a character that cannot be seen: {found}',
  'target-too-long': 'the {kind} is longer than {maxBytes} bytes',
  'target-path': "{found} is a path, not a client's address",
  ...jsonFaults,
} as const;

export const jsonFaultOf = (found: Params): string => fillWithCauses(JSON_FAULT, found, textFaults);

export type TextFault = Params & { problem: keyof typeof textFaults };

export const textFault = <Of extends keyof typeof textFaults>(
  problem: Of,
  params: ParamsOf<(typeof textFaults)[Of]> & Params,
): TextFault => ({ ...givenOf(params), problem });

export const textFaultOf = (fault: TextFault): string => fillWithCauses(textFaults[fault.problem], fault, textFaults);
