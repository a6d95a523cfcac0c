import type { Template } from '../../shared/reasoning/words/format.ts';
import type { TextKey } from './en.ts';
import { caseWords } from './zh/case.ts';
import { casesWords } from './zh/cases.ts';
import { detailsWords } from './zh/details.ts';
import { frameWords } from './zh/frame.ts';
import { historyWords } from './zh/history.ts';
import { inputWords } from './zh/input.ts';
import { inputsWords } from './zh/inputs.ts';
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
  ...casesWords,
  ...caseWords,
  ...inputsWords,
};
