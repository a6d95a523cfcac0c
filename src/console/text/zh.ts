import type { TextKey } from './en.ts';
import type { Template } from './format.ts';
import { detailsWords } from './zh/details.ts';
import { frameWords } from './zh/frame.ts';
import { historyWords } from './zh/history.ts';
import { inputWords } from './zh/input.ts';
import { jsonWords } from './zh/json.ts';
import { stateWords } from './zh/state.ts';
import { treeWords } from './zh/tree.ts';
import { whyWords } from './zh/why.ts';

export const zh: Readonly<Record<TextKey, Template>> = {
  ...frameWords,
  ...inputWords,
  ...jsonWords,
  ...stateWords,
  ...treeWords,
  ...whyWords,
  ...detailsWords,
  ...historyWords,
};
