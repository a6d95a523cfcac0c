import type { Template } from './format.ts';

/** The sentence of each finding before a release, in English, by the code of the finding. */
export const readinessEnglish = {
  'no-rule': 'The rule cannot run: {reason}',
  'missing-node': 'Node {node} is not released.',
  'unusable-node': 'Node {node} cannot be read: {reason}.',
  circle: 'The nodes {nodes} form a cycle.',
  'missing-class': 'A client of {target} does not have the class {class}.',
  'wrong-setting': 'Node {node}: {field} must be {type}, and is {value}.',
  failed: { one: '{n} case failed on {target}.', other: '{n} cases failed on {target}.' },
  unanswered: {
    one: '{n} case has no answer on {target}.',
    other: '{n} cases have no answer on {target}.',
  },
  'no-cases': 'The rule has no saved cases that run.',
  'never-run': 'Its cases did not run on {target} yet, as far as batches are kept. Dry runs do not count.',
  'other-rules': 'Its cases last ran on {target} with other rules than are released now.',
  'other-cases': 'Its cases have changed since they last ran on {target}.',
  'classes-unknown': 'No client of {target} is online and says which classes it has.',
  'rule-over': 'The time window of the rule is over.',
  'node-over': 'The time window of node {node} is over: it counts as NONE.',
  'not-reached': 'Node {node} runs in no case.',
  'nothing-expected': 'Its cases expect nothing.',
  'not-checked': {
    one: '{n} case could not be checked on {target}: its trace does not say enough.',
    other: '{n} cases could not be checked on {target}: their traces do not say enough.',
  },
} as const satisfies Record<string, Template>;
