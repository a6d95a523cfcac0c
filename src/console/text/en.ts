import { caseWords } from './en/case.ts';
import { casesWords } from './en/cases.ts';
import { detailsWords } from './en/details.ts';
import { frameWords } from './en/frame.ts';
import { historyWords } from './en/history.ts';
import { inputWords } from './en/input.ts';
import { inputsWords } from './en/inputs.ts';
import { jsonWords } from './en/json.ts';
import { stateWords } from './en/state.ts';
import { treeWords } from './en/tree.ts';
import { whyWords } from './en/why.ts';

/** Every word on the screen, by subject. Sentence case; who, what happened, what to do. */
export const en = {
  ...frameWords,
  ...inputWords,
  ...jsonWords,
  ...stateWords,
  ...treeWords,
  ...whyWords,
  ...detailsWords,
  ...historyWords,
  ...casesWords,
  ...caseWords,
  ...inputsWords,
};

export type TextKey = keyof typeof en;
