import { fillTemplate, fillWithCauses, givenOf, type Params, type ParamsOf } from './template.ts';
import { textFaults } from './text-faults.ts';

const SHAPE =
  'must be {expected}[ with {members}…][ from {minimum} to {maximum}][ such as {example}][, found {received}][, found {found}]';

/** What `expected` and `received` may be. */
const kinds = {
  object: 'an object',
  array: 'a list',
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  integer: 'an integer',
  'whole-number': 'a whole number',
  milliseconds: 'a time in milliseconds since 1970',
  'number-of-milliseconds': 'a whole number of milliseconds',
  'json-object': 'a JSON object',
  'plain-number': 'a number as JSON writes it',
  texts: 'a list of texts',
  cases: 'a list of cases',
  'node-id': 'the id of a node',
  'node-ids': 'a list of node ids (an empty one where no node may act)',
  nodes: 'an object of node ids and what they come to',
  stubs: 'an object of node ids, each with TRUE, FALSE or NONE,',
  stub: 'TRUE, FALSE or NONE, or an object with one of them as its outcome and the keys to set',
  label: '1 to 64 letters, digits, _ or -',
  'execution-id': 'the mockId of an execution',
  path: 'a path',
  'input-path': 'an input path',
  condition: 'a condition (path, one of = != > >= < <=, and a value)',
  'time-of-case': 'a time with an offset, or epoch milliseconds,',
  'time-zone': 'the name of a time zone',
  version: 'a version',
  etag: 'the ETag of the saved cases, in its quotes',
  'no-etag': '*, which stands for: none are saved yet',
  // Settings.
  'redis-url':
    'redis://host:6379, redis+sentinel://host:26379,host:26379/name-of-the-master/0 or redis+cluster://host:6379,host:6379, or the same with rediss for TLS',
  prefix: '1 to 64 letters, digits, dots, hyphens and underscores',
  'api-keys': 'name:key,… with distinct names and keys of at least 16 characters of ASCII, without spaces',
  origins: 'origins, separated by commas,',
  'address-ranges': 'addresses or ranges, separated by commas,',
  'header-name': 'the name of a header',
  'http-url': 'an http:// or https:// URL',
  'app-id': 'the id of an app',
  'app-ids': 'ids of apps',
  'key-name': '1 to 64 letters, digits or . _ - @ +',
  'key-digest': "the key's SHA-256 in hexadecimal (rule-server keys new)",
  'day-or-time': 'a day such as 2027-06-30, or a time with an offset',
} as const;

/**
 * What can be wrong with what somebody wrote: a request, a document of cases, a setting. The sentence goes on after the name of the place. The
 * first codes are those of Zod.
 */
export const problems = {
  ...textFaults,
  'invalid-type': SHAPE,
  'invalid-format': SHAPE,
  'too-small': 'must be {expected} from {minimum}[ to {maximum}][, found {received}][, found {found}]',
  'too-big': SHAPE,
  'invalid-value': 'must be [one of {values}][{value}][, found {received}][; did you mean {meant}?]',
  'unrecognized-key': 'is not known here[; did you mean "{meant}"?][: use {known}]',
  'no-keys': 'is not known here: leave it out',
  invalid: 'cannot be used',
  'too-many': 'must be at most {maximum}[, found {found}]',
  'too-long': 'is longer than {maximum} characters',
  length: 'must have {minimum} to {maximum} characters',
  duplicate: 'is given twice',
  repeated: 'must be given once, found {found}',
  'too-often': 'must be given {maximum} times at most',
  required: 'is required',
  'required-unless': 'required, unless `{instead}`[ or `{or}`] is given',
  'required-with': 'must be given with {other}',
  // A call.
  'empty-body': 'is empty: send a JSON object such as {example}',
  'without-dry-run': 'goes with "dryRun": true: a real run calls every node',
  'scene-and-id': 'names the rule to run: give it without ruleId and confId',
  'scene-without-rule': 'names no rule: app {app} has released none in it',
  'no-dry-run-here':
    'is not known here: this runs for real. Ask for a run without effects with "dryRun": true in the body of POST /rule-server/mock/execute',
  'only-key': 'must be there, and nothing beside it: send {example}',
  'time-in-seconds': 'is in seconds: give milliseconds since 1970, three digits more',
  'no-time': 'is not a time such as 2026-03-15T12:00:00+08:00[, found {found}]',
  'time-without-offset': 'is not a time with an offset such as +08:00[, found {found}]',
  'time-skipped': 'does not occur in {zone}, where the clocks skip it: give an offset such as +08:00[, found {found}]',
  'time-twice': 'occurs twice in {zone}, where the clocks go back: give an offset such as +08:00[, found {found}]',
  // A search.
  'foreign-cursor': 'is not one this service gave out',
  'gone-cursor': 'is of a batch that is not kept any more, or not one this service gave out: begin without it',
  'hidden-value': 'asks for {path}, which is hidden here (MASK)',
  'no-scalar': 'must compare with a number, a text, true, false or null',
  'no-order': 'must compare by {operator} with a number',
  // A batch.
  'one-source': 'give either cases, saved: true, recorded or from',
  empty: 'is empty: there is nothing to run',
  'nothing-to-run': 'holds nothing to run',
  'too-many-runs': 'and targets make {runs} runs, which is more than {maximum}',
  'left-out': '{count} because {why}',
  'rule-and-node': 'must not be given beside ruleId: cases belong to a rule or to a node',
  'recorded-of-rule': 'needs ruleId, and no confId: only runs of a whole rule are made again',
  'recorded-against': 'must not be given beside recorded: the runs are compared with those they repeat',
  'not-a-target': 'must be one of several targets, with which the others are compared; the targets are {targets}',
  'no-dry-run':
    'needs clients that can run without effects, and no client of {targets} can. Nothing ran. Name other targets, or give "dryRun": false (on the command line: --real for a replay, else no --dry-run) for real runs with all their effects',
  // A document of cases.
  'not-yaml': 'is not YAML: {message}',
  'no-document': 'is empty',
  'several-documents': 'holds several YAML documents: keep one in a file',
  'yaml-version': 'must be YAML 1.2: remove the %YAML line',
  'yaml-alias': 'is an alias (*{alias}): write the value again',
  'yaml-tag': 'has a tag ({tag}): write the value without it',
  'no-value': 'cannot be read',
  'no-text-key': 'is a key that is not text: put it in quotes',
  'lone-surrogate': 'holds half of a surrogate pair',
  'no-json-number': 'is a number JSON does not know ({number}): put text in quotes',
  'too-deep': 'is nested deeper than {levels} levels',
  'no-name': 'is missing: give every case a name',
  'same-name': 'is the name of case {case} as well: {name}',
  'approximate-number': 'has a number beyond 10^±400 in $approx: {number}',
  'approximate-by': 'has a $by below 0',
  'other-rule': 'is {said} in the document and {why} in the request',
  'no-change': 'is missing: give upsert, remove, or both',
  'no-such-case': 'no case is called {name}',
  'no-such-place': 'is not in the document',
  'no-list-of-cases': 'has no list called cases',
  // CSV.
  'csv-encoding': '{fault}: save the file as "CSV UTF-8"',
  'not-csv': 'is not CSV: {message}',
  'csv-empty': 'is empty: begin with a header of input paths',
  'csv-without-rows': 'has a header but no rows',
  'too-many-columns': 'has more than {maximum} columns',
  'column-nameless': 'is empty: name the input path of each column',
  'column-unseen': 'contains a character that cannot be seen: {name}',
  'column-twice': 'gives {name} twice, first in column {first}',
  'column-part': 'gives {name}, of which column {other} is a part, or which is a part of it',
  'column-path': 'is not an input path such as user.age: {name}',
  'cell-cut':
    'must be a whole number with all its digits, found {found}: a spreadsheet such as Excel shortened it; format the column as text and enter it again',
  'row-cells':
    'must have one cell for each of the {columns} columns, found {found}: put a value that holds the separator in quotes',
  // Settings.
  'no-proxies': 'must say which proxies may send TRUSTED_USER_HEADER',
  'pair-of-settings': 'and {other} belong together: set both or neither',
  'no-tls': 'must begin with rediss for REDIS_CA_FILE and REDIS_CERT_FILE to be used',
  'masked-field': 'must be app:path,… such as 7:customer.phone: {found} is not {expected}',
  'home-path': 'must be a whole path: only a shell turns ~ into a home, and here none did (a name that begins so: ./~)',
  'service-link':
    'must be a port, and holds the address of a Kubernetes Service whose name it has: set enableServiceLinks: false in the pod',
} as const;
export type ProblemCode = keyof typeof problems;

/** The words of problems, and of what their parameters name. */
export const problemWords = { ...problems, ...kinds } as const;

/** One thing wrong with what somebody wrote: the place (`body`, `document`, or the path of a member), what, and its parameters. */
export type Problem = { field: string; code: string; params: Params };

/** Where in a file it is. */
type Place = { row?: number; column?: number; line?: number | undefined };

export const problemAt = <Of extends ProblemCode>(
  field: string,
  code: Of,
  params: ParamsOf<(typeof problems)[Of]> & Place,
): Problem => ({ field, code, params: givenOf(params) });

/** A problem without its place: a fault, as other reasons have them. */
export type ProblemFault = Params & { problem: string };

export const problemOfFault = (field: string, { problem: code, ...params }: ProblemFault): Problem => ({
  ...{ field, code, params },
});

export const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(problems, code);

/** What is wrong, in English, for those who have no other words. */
export const problemText = ({ code, params }: Pick<Problem, 'code' | 'params'>): string =>
  isProblemCode(code)
    ? withPlace(fillWithCauses(problems[code], params, problemWords), { params, text: problems[code] }, places)
    : code;

/** Problems in one line. */
export const problemLines = (found: readonly Problem[]): string =>
  found.map((each) => `${each.field} ${problemText(each)}`).join('; ');

export const places: Record<'row' | 'column' | 'line' | 'around' | 'between', string> = {
  row: 'row {row}',
  column: 'column {column}',
  line: 'line {line}',
  around: ' ({place})',
  between: ', ',
};

/** A sentence with its place in a file behind it, unless it names the line itself. */
export function withPlace(
  sentence: string,
  { params, text }: { params: Params; text: string },
  words: typeof places,
): string {
  if (text.includes('{line}')) return sentence;
  const place = (['row', 'column', 'line'] as const).flatMap((name) => (params[name] === undefined ? [] : words[name]));
  return place.length === 0
    ? sentence
    : sentence + fillTemplate(words.around, { place: fillTemplate(place.join(words.between), params) });
}
