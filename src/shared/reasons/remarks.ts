import { givenOf, type Params, type ParamsOf } from './template.ts';

/** What a caller should know about a run that took place, by the code of the warning. */
export const warnings = {
  'missing-node': 'Node {nodeId} is not released: clients leave it out.',
  'unusable-file': 'The file of [rule {ruleId}][node {confId}] {problem}.',
  'other-file': 'The file {problem}.',
  'missing-leaf-class':
    'The client has not registered {class}: unless that is an alias, which clients do not list, node {nodeId} is left out silently.',
  'leaf-without-class': 'Node {nodeId} is a leaf without a class: clients leave it out silently.',
  'large-tree': 'Shared nodes make this a tree of {nodes} nodes: it may never end.',
  'not-checked': "The rule's files could not be read within {withinMs} ms: the request was sent unchecked.",
  precision:
    'Client {address} ({sdk}) keeps numbers as 64-bit floats: [of {numbers} in the input its rule sees {seen}][, and so on for {more} more][{returned} in its answer may be rounded].',
  'out-of-range': 'Client {address} ({sdk}) cannot hold {number} at {path} of the input: its rule sees something else.',
  'client-passed-over':
    'Another client was asked: the request for client {address} could not be written to mock/{app}/{directory}: {why}.',
  'no-reason': 'Client {address} reports a failure without a reason: look at its log.',
} as const;

/** Why a case of a batch was not run. */
export const skips = {
  'skip-asked': 'skip: true',
  'batch-cancelled': 'the batch was cancelled',
  'batch-key-expired': 'the batch was cancelled: its API key "{name}" has expired',
  'batch-key-gone': 'the batch was cancelled: its API key "{name}" was taken away',
  'batch-key-may-not': 'the batch was cancelled: its API key "{name}" may not run app {app} any more',
  'enough-failures': 'stopped: the number of failures reached {failures}',
  'client-ended': 'stopped: client {address} ended while it ran a case',
  'client-silent': 'stopped after {cases} cases in a row without an answer from {address}',
} as const;

/** Why a recorded run is not made again. */
export const leftOut = {
  'was-dry': 'it was a dry run',
  'was-a-part': 'only a part of the rule ran',
  'was-not-answered': 'it has no answer',
  'input-not-kept': 'its input is not kept, or was cut',
  'input-hidden': 'fields of its input are hidden',
  'not-of-rule': 'no run of this rule has its id, or it is not kept any more',
} as const;
export type LeftOut = keyof typeof leftOut;

/** How a run is not as expected. */
export const differences = {
  differs: 'differs',
  missing: 'is missing',
  unexpected: 'was not expected',
  'must-not-be': 'must not be there',
  'too-far': 'differs by more than is allowed',
  'no-number': 'is not a number',
  'took-longer': 'took longer',
  'time-unknown': 'cannot be told',
  changed: 'changed',
  'other-error': 'does not contain the expected text',
  'no-error': 'did not come: the rule ran without one',
} as const;

export type WarningCode = keyof typeof warnings | 'unknown-rule' | 'unknown-node' | 'node-not-in-rule';
type How = keyof typeof differences;
export const isHow = (text: string): text is How => Object.hasOwn(differences, text);
type Skip = keyof typeof skips;
/** Why a case is not run, or a batch goes no further. */
export type SkipReason = { reason: string; params: Params };
export const skip = <Of extends Skip>(reason: Of, params: ParamsOf<(typeof skips)[Of]>): SkipReason => ({
  reason,
  params: givenOf(params),
});
export type Remark = keyof typeof warnings | Skip | How;
