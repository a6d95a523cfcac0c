import type { Template } from '../../../shared/reasoning/words/format.ts';
import type { jsonWords as words } from '../en/json.ts';

export const jsonWords: Record<keyof typeof words, Template> = {
  'json.bad.early': '过早结束',
  'json.bad.twice': '字段 {a} 出现了两次',
  'json.bad.after': 'JSON 值结束之后多出 {a}',
  'json.bad.unexpected': '这里不应有 {a}',
  'json.bad.deep': '嵌套超过 {a} 层',
  'json.bad.key': '应为双引号中的字段名，却是 {a}',
  'json.bad.expected': '应为 {a}，却是 {b}',
  'json.bad.control': '字符串中的控制字符必须转义',
  'json.bad.escape': '{a} 不是 JSON 的转义',
  'json.bad.hexadecimal': '\\u 之后必须是四位十六进制数字',
  'json.bad.value': '{a} 不是 JSON 值',
  'json.bad.number': '{a} 之后必须是数字，却是 {b}',
  'json.copy': '复制',
  'json.copied': '已复制',
  'json.download': '保存为文件',
  'json.lines': '{n} 行',
  'json.fold': '折叠',
  'json.unfold': '展开',
  'json.items': '{n} 项',
  'json.keys': '{n} 个字段',
};
