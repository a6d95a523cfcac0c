import type { Template } from '../../../shared/reasoning/words/format.ts';

/** Many inputs at once. */
export const inputsWords = {
  'inputs.label': 'Inputs as CSV or JSON',
  'inputs.placeholder':
    'Paste a table with a header (name, cost, user.age …) or a JSON list of inputs, or drop a file here.',
  'inputs.file': 'Choose a file',
  'inputs.clear': 'Clear',
  'inputs.long': '{size} of text. {name}',
  'inputs.empty':
    'Each row of a CSV, or each element of a JSON list, becomes one run. The page shows them here before anything runs.',
  'inputs.notCsv': 'Correct this first:',
  'inputs.notUtf8': '{name} is not UTF-8 text. Save it as “CSV UTF-8” and choose it again.',
  'inputs.notUtf8At':
    '{name} is not UTF-8 text: see byte {byte} of line {line}. Save it as “CSV UTF-8” and choose it again.',
  'inputs.mistakes': { one: '1 row has a mistake:', other: '{n} rows have mistakes:' },
  'inputs.line': 'line {line}',
  'inputs.leaveOut': {
    one: 'Leave this row out and run the others',
    other: 'Leave these {n} rows out and run the others',
  },
  'inputs.notJson': 'This is not JSON. Line {line}: {message}',
  'inputs.noList': 'Give a JSON list of inputs: [{"cost": 1}, {"cost": 2}]',
  'inputs.run': { one: 'Run this input for real', other: 'Run all {n} inputs for real' },
  'inputs.preview': 'The first inputs',
  'inputs.caption': { one: '1 input', other: 'The first {shown} of {n} inputs' },
  'inputs.unread': 'no node reads it',
  'inputs.more': { one: '1 more column', other: '{n} more columns' },
  'inputs.type.name': 'name of the case',
  'inputs.type.time': 'time it runs as of; {timeZone} where it has no offset',
  'inputs.type.number': 'number',
  'inputs.type.boolean': 'yes/no',
  'inputs.type.text': 'text',
  'inputs.type.object': 'object',
  'inputs.type.list': 'list',
  'inputs.type.null': 'null',
  'inputs.type.mixed': 'of several types',
} as const satisfies Record<string, Template>;
