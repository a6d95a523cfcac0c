/** A configured value as JSON, and what a text, a boolean, a long and a double field hold after it. `-`: the node is left out. */
export type ConfiguredCase = readonly [json: string, text: string, boolean: string, long: string, double: string];

/** Measured with Jackson 2.15, which the Java SDK reads rules with, into primitive fields. */
export const configured: readonly ConfiguredCase[] = [
  ['""', '""', 'false', '0', '0'],
  ['" "', '" "', 'false', '0', '0'],
  ['"18"', '"18"', '-', '18', '18'],
  ['" 18 "', '" 18 "', '-', '18', '18'],
  ['"+18"', '"+18"', '-', '18', '18'],
  ['"018"', '"018"', '-', '18', '18'],
  ['"1.7"', '"1.7"', '-', '-', '1.7'],
  ['"1e2"', '"1e2"', '-', '-', '100'],
  ['1.7', '"1.7"', '-', '1', '1.7'],
  ['-1.7', '"-1.7"', '-', '-1', '-1.7'],
  ['1e2', '"1e2"', '-', '100', '100'],
  ['1.0', '"1.0"', '-', '1', '1'],
  ['18', '"18"', 'true', '18', '18'],
  ['0', '"0"', 'false', '0', '0'],
  ['1', '"1"', 'true', '1', '1'],
  ['-1', '"-1"', 'true', '-1', '-1'],
  ['true', '"true"', 'true', '-', '-'],
  ['false', '"false"', 'false', '-', '-'],
  ['"true"', '"true"', 'true', '-', '-'],
  ['" true "', '" true "', 'true', '-', '-'],
  ['"True"', '"True"', 'true', '-', '-'],
  ['"TRUE"', '"TRUE"', 'true', '-', '-'],
  ['"tRue"', '"tRue"', '-', '-', '-'],
  ['"False"', '"False"', 'false', '-', '-'],
  ['"0"', '"0"', '-', '0', '0'],
  ['"1"', '"1"', '-', '1', '1'],
  ['"yes"', '"yes"', '-', '-', '-'],
  ['"null"', '"null"', 'false', '0', '0'],
  ['9223372036854775807', '"9223372036854775807"', 'true', '9223372036854775807', '9223372036854775807'],
  ['9223372036854775808', '"9223372036854775808"', 'true', '-', '9223372036854775808'],
  ['10000000000000000', '"10000000000000000"', 'true', '10000000000000000', '10000000000000000'],
  ['"0x1F"', '"0x1F"', '-', '-', '-'],
  ['"1_000"', '"1_000"', '-', '-', '-'],
  ['"18L"', '"18L"', '-', '-', '-'],
  ['[1]', '-', '-', '-', '-'],
  ['{}', '-', '-', '-', '-'],
];

/** A member of a node's file, and what the node comes to: its process text, or why it is left out. */
export type MemberCase = readonly [member: string, ending: string];

const yes = '[2:Yes:T:0][1:And:T:0]';
const no = '[2:Yes:T-I:0][1:And:F:0]';
const outside = '[2:Yes:O][1:And:N:0]';
export const members: readonly MemberCase[] = [
  ['"inverse":true', no],
  ['"inverse":"true"', no],
  ['"inverse":"True"', no],
  ['"inverse":1', no],
  ['"inverse":0', yes],
  ['"inverse":"false"', yes],
  ['"inverse":""', yes],
  ['"inverse":null', yes],
  ['"INVERSE":true', no],
  ['"inverse":"yes"', 'its file cannot be read: inverse must be true or false, not "yes"'],
  ['"inverse":[]', 'its file cannot be read: inverse must be true or false, not []'],
  ['"type":"5"', yes],
  ['"type":" 5 "', yes],
  ['"type":5.0', yes],
  ['"type":"five"', 'its file cannot be read: type must be an integer of at most 64 bits, not "five"'],
  ['"type":true', 'its file cannot be read: type must be an integer of at most 64 bits, not true'],
  ['"type":300', 'its file cannot be read: type must be an integer of at most 8 bits, not 300'],
  ['"type":6', 'it has type 6, but Yes is a leaf of type 5'],
  ['"type":7', 'it has type 7, but Yes is a leaf of type 5'],
  ['"timeType":"5","start":"9999999999999"', outside],
  ['"timeType":7,"start":0,"end":" 5 "', outside],
  ['"timeType":1.9', yes],
  ['"timeType":"1.9"', 'its file cannot be read: timeType must be an integer of at most 64 bits, not "1.9"'],
  ['"forwardId":"0"', yes],
  ['"confName":"Boom","errorState":"1"', '[2:Boom:T:0][1:And:T:0]'],
  ['"confName":"Boom","errorState":0', '[2:Boom:F:0][1:And:F:0]'],
  ['"confName":"Boom","errorState":"2"', '[2:Boom:N:0][1:And:N:0]'],
  ['"confField":{}', 'its file cannot be read: confField must be a string, not {}'],
];

/** The data, what is done to a dotted key, and the data afterwards. `undefined` removes. */
export type DeepCase = readonly [before: string, key: string, value: unknown, after: string];

export const deep: readonly DeepCase[] = [
  ['{}', 'a.b.c', 1, '{"a":{"b":{"c":1}}}'],
  ['{"a":{"b":null}}', 'a.b.c', 1, '{"a":{"b":{"c":1}}}'],
  ['{"a":5}', 'a.b', 1, '{"a":5}'],
  ['{"a":"text"}', 'a.b.c', 1, '{"a":"text"}'],
  ['{"a":true}', 'a.b', 1, '{"a":true}'],
  ['{"a":[1,2]}', 'a.1', 9, '{"a":[1,9]}'],
  ['{"a":[1,2]}', 'a.+1', 9, '{"a":[1,9]}'],
  ['{"a":[1,2]}', 'a.01', 9, '{"a":[1,9]}'],
  ['{"a":[1,2]}', 'a.9', 9, '{"a":[1,2]}'],
  ['{"a":[1,2]}', 'a.-1', 9, '{"a":[1,2]}'],
  ['{"a":[1,2]}', 'a.x', 9, '{"a":[1,2]}'],
  ['{"a":[1,2]}', 'a.1.b', 9, '{"a":[1,2]}'],
  ['{"a":[null]}', 'a.0.b', 9, '{"a":[null]}'],
  ['{"a":[{"n":1}]}', 'a.0.n', 2, '{"a":[{"n":2}]}'],
  ['{"a":[1,2]}', 'a.0', undefined, '{"a":[null,2]}'],
  ['{"a":[1,2]}', 'a.9', undefined, '{"a":[1,2]}'],
  ['{"a":{"b":1}}', 'a.b', undefined, '{"a":{}}'],
  ['{"a":{"b":{"c":1}}}', 'a.b.c', undefined, '{"a":{"b":{}}}'],
  ['{"a":{"b":1}}', 'a.x.y', undefined, '{"a":{"b":1,"x":{}}}'],
  ['{}', 'a.b', undefined, '{"a":{}}'],
  ['{"a":1}', 'a', undefined, '{}'],
  ['{"a":1}', 'a.b', undefined, '{"a":1}'],
  ['{}', 'a.', 1, '{"a":1}'],
  ['{}', 'a..b', 1, '{"a":{"":{"b":1}}}'],
];
