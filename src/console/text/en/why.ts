import { reasonEnglish } from '../../../shared/reasoning/words/english.ts';
import type { Template } from '../../../shared/reasoning/words/format.ts';

/** Why a rule came out as it did. */
export const whyWords = {
  ...reasonEnglish,
  'why.title': 'Why {outcome}:',
  'why.reach': '{node} would run with {changes}. This is computed, not run.',
  'why.reach.assumed': {
    one: '{node} would run with {changes}, if {nodes} comes to TRUE. This is computed, not run.',
    other: '{node} would run with {changes}, if {nodes} come to TRUE. This is computed, not run.',
  },
  'why.change.write': 'Write it into the form',
  'why.empty': 'After a run, this line says which node decided and why.',
  'why.notBegun': 'The service did not start a run, so there is no result.',
  'why.noAnswer': 'The page has no result, and cannot know whether the rule ran.',
  'why.notRun': 'No node decided: the rule did not run.',
  'why.noTrace': 'The reason is not known: the client wrote no trace.',
  'why.emptyTrace': 'The reason is not known: no node ran.',
  'why.noPlace': 'The reason is not known: the trace does not fit the tree.',
} as const satisfies Record<string, Template>;
