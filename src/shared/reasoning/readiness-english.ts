import type { Template } from './format.ts';

/** What a person must know of a rule before a release, in English: the sentences of the service, and those of the page. */
export const readinessEnglish = {
  'release.finding.no-rule': 'The rule cannot run: {reason}',
  'release.finding.missing-node': 'Node {node} is not released.',
  'release.finding.unusable-node': 'Node {node} cannot be read: {reason}.',
  'release.finding.circle': 'The nodes {nodes} stand in a circle.',
  'release.finding.missing-class': 'A client of {target} does not have the class {class}.',
  'release.finding.wrong-setting': 'Node {node}: {field} must be {type}, and is {value}.',
  'release.finding.failed': { one: '{n} case failed on {target}.', other: '{n} cases failed on {target}.' },
  'release.finding.unanswered': {
    one: '{n} case has no answer on {target}.',
    other: '{n} cases have no answer on {target}.',
  },
  'release.finding.no-cases': 'The rule has no saved cases that run.',
  'release.finding.never-run': 'Its cases did not run on {target} yet, as far as batches are kept.',
  'release.finding.other-rules': 'Its cases last ran on {target} with other rules than are released now.',
  'release.finding.other-cases': 'Its cases have changed since they last ran on {target}.',
  'release.finding.classes-unknown': 'No client of {target} is online and says which classes it has.',
  'release.finding.rule-over': 'The time window of the rule is over.',
  'release.finding.node-over': 'The time window of node {node} is over: it counts as NONE.',
  'release.finding.not-reached': 'No case reaches node {node}.',
  'release.finding.dry-run': 'Its cases last ran on {target} without effects.',
} as const satisfies Record<string, Template>;
