import { format, type Parameters, type Template } from './format.ts';

/** Why a rule came out as it did, in English: the page's own words, and those of an explanation as text. */
export const reasonEnglish = {
  'why.stopped': '{node} is {decision} because {by} is {decision}. The nodes after {by} did not run.',
  'why.decided': '{node} is {decision} because {by} is {decision}.',
  'why.leaf': '{node} is {decision}. The client’s trace does not say what the node read.',
  'why.leaf.facts': '{node} is {decision}: {facts}.',
  'why.leaf.otherRules':
    '{node} is {decision}: {facts}. By its settings it would have come out otherwise, so they were others when it ran.',
  'why.leaf.inverted':
    '{node} came to {from} and is inverted, so it counts as {to}. The client’s trace does not say what the node read.',
  'why.leaf.inverted.facts': '{node} came to {from} ({facts}) and is inverted, so it counts as {to}.',
  'why.leaf.inverted.otherRules':
    '{node} came to {from} ({facts}) and is inverted, so it counts as {to}. By its settings it would have come out otherwise, so they were others when it ran.',
  'why.inInput': 'in the input,',
  'why.wanted.atLeast': 'This node would be TRUE with {key} of at least {value}.',
  'why.wanted.moreThan': 'This node would be TRUE with {key} above {value}.',
  'why.wanted.atMost': 'This node would be TRUE with {key} of at most {value}.',
  'why.wanted.lessThan': 'This node would be TRUE with {key} below {value}.',
  'why.wanted.equal': 'This node would be TRUE if {key} were {value}.',
  'why.wanted.other': 'This node would be TRUE if {key} were anything but {value}.',
  'why.wanted.in': 'This node would be TRUE if {key} were one of {value}.',
  'why.wanted.notIn': 'This node would be TRUE if {key} were none of {value}.',
  'why.change': 'The result would be {decision} with {changes}. This is computed, not run.',
  'why.change.assumed': {
    one: 'The result would be {decision} with {changes}, if {nodes} comes to TRUE. This is computed, not run.',
    other: 'The result would be {decision} with {changes}, if {nodes} come to TRUE. This is computed, not run.',
  },
  'why.change.undeclared': {
    one: 'Fewer keys may do: {nodes} does not declare what it comes to without a value.',
    other: 'Fewer keys may do: {nodes} do not declare what they come to without a value.',
  },
  'why.change.value': '{key} = {value}',
  'why.change.other': '{key} other than {value}',
  'why.none-held': {
    one: '{node} is FALSE because the only node below it is FALSE: {nodes}.',
    two: '{node} is FALSE because both nodes below it are FALSE: {nodes}.',
    other: '{node} is FALSE because all {n} nodes below it are FALSE: {nodes}.',
  },
  'why.none-held.some': {
    one: '{node} is FALSE because {nodes} is FALSE and no node below it is TRUE.',
    other: '{node} is FALSE because {n} nodes below it are FALSE and none is TRUE: {nodes}.',
  },
  'why.all-held': {
    one: '{node} is TRUE because the only node below it is TRUE: {nodes}.',
    two: '{node} is TRUE because both nodes below it are TRUE: {nodes}.',
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
  'why.out-of-time.plain': '{node} counts as NONE and did not run: the run was outside its time window.',
  'why.left-out': 'The client left {node} out, because it does not know its class.',
  'why.unfinished': '{node} had not finished when the run ended.',
  'why.unlisted': 'The client’s trace does not list what ran below {node}.',
  'why.inverted': '{node} came to {from} and is inverted, so it counts as {to}.',
  'why.stubbed': '{node} is {decision} because this dry run has a stub for it.',
  'why.assumed': '{node} has effects, so this dry run did not call it. It counts as {decision}.',
  'why.error': '{node} failed: {message}',
  'why.error.plain': '{node} failed. The client gave no message.',
  'why.failed-below': '{node} failed because {by} failed.',
  'why.absorbed': '{node} failed ({message}). It is set to count as {decision} when it fails.',
  'node.window.always': 'always',
  'node.window.after': 'from {start}',
  'node.window.before': 'until {end}',
  'node.window.between': 'from {start} to {end}',
  'rules.changed': {
    one: '{n} change since: {nodes}.',
    other: '{n} changes since: {nodes}.',
  },
  'rules.node.added': '{node} (new)',
  'rules.node.removed': '{node} (removed)',
  'rules.node.rule': 'the rule itself',
  'rules.node.inverse': 'turned around',
  'rules.node.window': 'time window',
  'rules.node.name': 'name',
  'rules.node.class': 'class',
  'rules.node.errorState': 'what it counts as when it fails',
  'rules.node.forward': 'condition',
  'rules.node.order': 'order of its children',
  'rules.node.moved': 'moved',
  'rules.node.state': 'whether it can run',
  'sinceWhen.found': 'It comes to {decision} since version {version}.',
  'sinceWhen.atLeast': 'It comes to {decision} at least since version {version}: no earlier one can be read.',
  'sinceWhen.unknown': 'Since when it comes to {decision} cannot be told: on version {version} it still does.',
  'sinceWhen.changed': 'Version {version} changed {changes}.',
  'sinceWhen.computed': 'This is computed, not run, with the classes of the client that ran it.',
  'sinceWhen.tried': 'Leaves were run, without effects: {versions}.',
  'sinceWhen.refused':
    'The leaves that were run do not count: on the rules of the run they came to something else at {node}.',
  'sinceWhen.looked': 'Versions looked at: {versions}.',
  'sinceWhen.version': 'Version {version}: {decision}.',
  'sinceWhen.version.assumed': {
    one: 'Version {version}: {decision}, if {nodes} comes to TRUE.',
    other: 'Version {version}: {decision}, if {nodes} come to TRUE.',
  },
  'sinceWhen.version.nothing': 'Version {version}: nothing would have run.',
  'sinceWhen.version.unknown': 'Version {version}: it cannot be told, because nothing is known of {nodes} there.',
  'sinceWhen.version.tooLarge': 'Version {version}: it cannot be told, because its tree is too large.',
  'sinceWhen.version.writes': 'Version {version}: it cannot be told, because nothing is known of what its nodes write.',
  'json.tooLong': 'a value of {n} characters',
  'trace.is': '{key} is {value}',
  'trace.is.default': '{key} is {value} (default)',
  'trace.read.missing': '{key} is missing',
} as const satisfies Record<string, Template>;

export type ReasonKey = keyof typeof reasonEnglish;
/** A sentence of a dictionary, with its names filled in. */
export type Say = (key: ReasonKey, parameters?: Parameters) => string;

export const say: Say = (key, parameters = {}) => format(reasonEnglish[key], parameters);
