import { casesWords } from './en/cases.ts';
import { frameWords } from './en/frame.ts';
import { historyWords } from './en/history.ts';
import { inputWords } from './en/input.ts';
import { stateWords } from './en/state.ts';
import { treeWords } from './en/tree.ts';

/** Every word on the screen, by subject. Sentence case; who, what happened, what to do. */
export const en = {
  ...frameWords,
  ...inputWords,
  ...stateWords,
  ...treeWords,
  ...historyWords,
  ...casesWords,
};

export type TextKey = keyof typeof en;
