import { reasonEnglish } from '../../../shared/reasoning/words/english.ts';
import type { Template } from '../../../shared/reasoning/words/format.ts';

/** Why a rule came out as it did. */
export const whyWords = {
  ...reasonEnglish,
  'why.reach': '{node} would run with {changes}. This is computed, not run.',
  'why.reach.assumed': {
    one: '{node} would run with {changes}, if {nodes} comes to TRUE. This is computed, not run.',
    other: '{node} would run with {changes}, if {nodes} come to TRUE. This is computed, not run.',
  },
  'why.change.write': 'Write it into the form',
  'why.between': { one: '{n} more node leads up from there.', other: '{n} more nodes lead up from there.' },
} as const satisfies Record<string, Template>;
