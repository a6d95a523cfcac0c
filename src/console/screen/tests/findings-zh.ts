import type { FindingCode } from '../../../shared/contract/readiness.ts';

/** The sentences of findings in Chinese. They are fetched with the panel: those in English come with the answer. */
export const findingsZh: Record<FindingCode, string> = {
  'no-rule': '这条规则无法运行：{reason}',
  'missing-node': '节点 {node} 没有发布。',
  'unusable-node': '节点 {node} 无法读取：{reason}。',
  circle: '节点 {nodes} 构成了环。',
  'missing-class': '{target}的某个客户端没有类 {class}。',
  'wrong-setting': '节点 {node}：{field} 必须是 {type}，而现在是 {value}。',
  failed: '在{target}上有 {n} 个用例不符。',
  unanswered: '在{target}上有 {n} 个用例无应答。',
  'no-cases': '这条规则没有可运行的已保存用例。',
  'never-run': '它的用例还没有在{target}上真实运行过（就保留的批次而言）。',
  'other-rules': '它的用例上次在{target}上运行时，规则与现在发布的不同。',
  'other-cases': '它的用例上次在{target}上运行之后有改动。',
  'classes-unknown': '{target}没有在线客户端说明自己有哪些类。',
  'rule-over': '这条规则的时间窗已经过去。',
  'node-over': '节点 {node} 的时间窗已经过去：按 NONE 计。',
  'nothing-expected': '它的用例没有任何预期。',
  'not-reached': '没有用例运行过节点 {node}。',
  'not-checked': '在{target}上有 {n} 个用例无法判定：轨迹没有说明。',
};
