import { z } from 'zod';
import type { Reading } from '../files/reading/reading.ts';
import { unusable } from '../files/reading/reading.ts';
import type { TimeWindow } from './config-fields.ts';
import { optionalId, optionalInteger, optionalText, parseConfig, timeMembers, timeWindowOf } from './config-fields.ts';

/** A rule and the folder below `bases` that it stands in ('' = `bases` itself). */
export type PlacedRule = Rule & { folder: string };

/** One rule as its file says. `status`: 1 online, 0 offline, -1 deleted; clients differ in what they do about it. */
export type Rule = {
  id: bigint;
  name: string | null;
  confId: bigint | null;
  status: bigint | null;
  scenes: string[];
  timeWindow: TimeWindow;
  updateAt: bigint | null;
};

const ruleSchema = z.object({
  id: optionalId,
  name: optionalText,
  confId: optionalId,
  status: optionalInteger.catch(null),
  scenes: z.string().nullable().catch(null),
  updateAt: optionalInteger.catch(null),
  ...timeMembers,
});

/** Reads a rule file's text. `id` is what the file's name says; a file that says otherwise is unusable. */
export function parseRule(text: string, id: bigint): Reading<Rule> {
  const parsed = parseConfig(text, ruleSchema);
  if (parsed.kind !== 'found') return parsed;
  const { timeType, start, end, scenes, ...rule } = parsed.value;
  if (rule.id !== null && rule.id !== id) return unusable(`says that it is rule ${rule.id}`);
  const names = (scenes ?? '').split(',').map((scene) => scene.trim());
  const timeWindow = timeWindowOf({ timeType, start, end });
  return { kind: 'found', value: { ...rule, id, timeWindow, scenes: names.filter((scene) => scene !== '') } };
}
