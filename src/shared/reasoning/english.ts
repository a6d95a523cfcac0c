import type { Template } from './format.ts';

/** Why a rule came out as it did, in English: the page's own words, and those of an explanation as text. */
export const reasonEnglish = {
  'why.stopped': '{node} is {decision} because {by} is {decision}. The nodes after {by} did not run.',
  'why.decided': '{node} is {decision} because {by} is {decision}.',
  'why.leaf': '{node} is {decision}. The client’s trace does not say what the node read.',
  'why.leaf.facts': '{node} is {decision}: {facts}.',
  'why.leaf.otherRules':
    '{node} is {decision}: {facts}. By its settings it would have come out otherwise, so they were others when it ran.',
  'why.inInput': 'in the input,',
  'why.wanted.atLeast': 'It would be TRUE with {key} of at least {value}.',
  'why.wanted.moreThan': 'It would be TRUE with {key} above {value}.',
  'why.wanted.atMost': 'It would be TRUE with {key} of at most {value}.',
  'why.wanted.lessThan': 'It would be TRUE with {key} below {value}.',
  'why.wanted.equal': 'It would be TRUE if {key} were {value}.',
  'why.wanted.other': 'It would be TRUE if {key} were anything but {value}.',
  'why.wanted.in': 'It would be TRUE if {key} were one of {value}.',
  'why.wanted.notIn': 'It would be TRUE if {key} were none of {value}.',
  'why.none-held': {
    one: '{node} is FALSE because the only node below it is FALSE: {nodes}.',
    other: '{node} is FALSE because all {n} nodes below it are FALSE: {nodes}.',
  },
  'why.none-held.some': {
    one: '{node} is FALSE because {nodes} is FALSE and no node below it is TRUE.',
    other: '{node} is FALSE because {n} nodes below it are FALSE and none is TRUE: {nodes}.',
  },
  'why.all-held': {
    one: '{node} is TRUE because the only node below it is TRUE: {nodes}.',
    other: '{node} is TRUE because all {n} nodes below it are TRUE: {nodes}.',
  },
  'why.all-held.some': {
    one: '{node} is TRUE because {nodes} is TRUE and no node below it is FALSE.',
    other: '{node} is TRUE because {n} nodes below it are TRUE and none is FALSE: {nodes}.',
  },
  'why.more': 'and {n} more',
  'why.no-opinion': '{node} is NONE because no node below it came to TRUE or FALSE.',
  'why.always': '{node} is always {decision}, whatever the nodes below it come to.',
  'why.passed-on':
    '{node} should always come to {defined}, but the client’s SDK gives a parallel node with one child that child’s result. {by} is {decision}, so {node} is {decision}.',
  'why.rejected': '{node} counts as FALSE and did not run, because its condition {by} is FALSE.',
  'why.rejected.plain': '{node} counts as FALSE and did not run, because its condition is FALSE.',
  'why.condition-held': '{node} itself came to NONE. It counts as TRUE because its condition {by} is TRUE.',
  'why.out-of-time':
    '{node} counts as NONE and did not run: its time window is {window}, and the run was as of {time}.',
  'why.left-out': 'The client left {node} out, because it does not know its class.',
  'why.unfinished': '{node} had not finished when the run ended.',
  'why.unlisted': 'The client’s trace does not list what ran below {node}.',
  'why.inverted': '{node} came to {from} and is inverted, so it counts as {to}.',
  'why.error': '{node} failed: {message}',
  'why.error.plain': '{node} failed. The client gave no message.',
  'why.failedBelow': '{node} failed because {by} failed.',
  'why.absorbed': '{node} failed ({message}). It is set to count as {decision} when it fails.',
  'node.window.always': 'always',
  'node.window.after': 'from {start}',
  'node.window.before': 'until {end}',
  'node.window.between': 'from {start} to {end}',
  'json.tooLong': 'a value of {n} characters',
  'trace.is': '{key} is {value}',
  'trace.is.default': '{key} is {value} (default)',
  'trace.read.missing': '{key} is missing',
} as const satisfies Record<string, Template>;

export type ReasonKey = keyof typeof reasonEnglish;
