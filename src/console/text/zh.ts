import type { Template } from '../../shared/reasoning/words/format.ts';
import type { TextKey } from './en.ts';
import { casesWords } from './zh/cases.ts';
import { frameWords } from './zh/frame.ts';
import { historyWords } from './zh/history.ts';
import { inputWords } from './zh/input.ts';
import { stateWords } from './zh/state.ts';
import { treeWords } from './zh/tree.ts';

export const zh: Readonly<Record<TextKey, Template>> = {
  ...frameWords,
  ...inputWords,
  ...stateWords,
  ...treeWords,
  ...historyWords,
  ...casesWords,
};
