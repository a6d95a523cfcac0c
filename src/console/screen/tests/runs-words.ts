import type { LeftOut } from '../../../shared/reasoning/trace/recorded-run.ts';
import type { Parameters, Template } from '../../../shared/reasoning/words/format.ts';
import { useText } from '../../text/use-text.tsx';

/** The sentences of this panel, which are fetched with it. */
const en = {
  intro:
    'Runs the inputs of earlier runs on a target, and shows which decisions would change there, and at which node.',
  wholeRule: 'Choose a whole rule: runs of one node alone are not compared.',
  count: 'Newest runs',
  search: 'Only runs with',
  searchHint: 'uid=42, or words of the input',
  time: 'Which',
  asOf: 'As of',
  asRun: 'the original time of each run',
  now: 'now',
  read: 'Read the runs',
  reading: 'Reading: {read} of {of}',
  found: { one: '1 run can be repeated.', other: '{n} runs can be repeated.' },
  leftOut: 'Left out: {parts}.',
  part: '{n} because {why}',
  start: { one: 'Run the input again for real', other: 'Run all {n} inputs again for real' },
  keep: { one: 'Save 1 case', other: 'Save {n} cases, one for each way through the tree' },
  kept: { one: '1 case is saved.', other: '{n} cases are saved.' },
  failed: 'That failed: {error}',
  other: 'Other runs',
};
const zh: Record<keyof typeof en, Template> = {
  intro: '在选定的目标上重新运行以往的输入，显示哪些结果会改变，以及从哪个节点开始不同。',
  wholeRule: '请选择整条规则：这里只比较整条规则。',
  count: '最近的运行',
  search: '只包括',
  searchHint: 'uid=42，或输入中的词',
  time: '范围',
  asOf: '时间点',
  asRun: '各次运行原来的时间点',
  now: '现在',
  read: '读取这些运行',
  reading: '正在读取：{read} / {of}',
  found: { one: '可以重新运行 1 次。', other: '可以重新运行 {n} 次。' },
  leftOut: '略过：{parts}。',
  part: '{n} 次（{why}）',
  start: { one: '重新真实运行这个输入', other: '重新真实运行全部 {n} 个输入' },
  keep: { one: '保存 1 个用例', other: '保存 {n} 个用例，树中每条路径一个' },
  kept: { one: '已保存 1 个用例。', other: '已保存 {n} 个用例。' },
  failed: '未能完成：{error}',
  other: '其他运行',
};

const leftOutZh: Record<LeftOut, string> = {
  'it was a dry run': '试运行',
  'only a part of the rule ran': '只运行了规则的一部分',
  'it has no answer': '没有应答',
  'its input is not kept, or was cut': '其输入没有保留，或被截断',
  'fields of its input are hidden': '其输入中有隐藏的字段',
};

/** Says the sentences of the panel in the language of the page. */
export function useReplayWords() {
  const { language, fill } = useText();
  const words: Record<keyof typeof en, Template> = language === 'zh' ? zh : en;
  return {
    tell: (key: keyof typeof en, parameters: Parameters = {}) => fill(words[key], parameters),
    because: (why: LeftOut) => (language === 'zh' ? leftOutZh[why] : why),
  };
}
