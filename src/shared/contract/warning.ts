import { z } from 'zod';
import type { refusals } from '../reasons/refusals.ts';
import type { WarningCode, warnings } from '../reasons/remarks.ts';
import { givenOf, mapTexts, type ParamsOf } from '../reasons/template.ts';
import { whatHappened } from '../reasons/words.ts';
import { paramsSchema } from './endings/codes.ts';
import { int64 } from './wire.ts';

/** Something about an execution its caller should know, that did not keep it from running. */
export const warningSchema = z
  .object({ code: z.string(), params: paramsSchema, message: z.string(), nodeId: int64.optional() })
  .meta({ id: 'Warning' });
export type Warning = z.infer<typeof warningSchema>;

type TextOf<Of extends WarningCode> = Of extends keyof typeof warnings
  ? (typeof warnings)[Of]
  : Of extends keyof typeof refusals
    ? (typeof refusals)[Of]['text']
    : never;

/** A parameter `nodeId` is also a member of the warning. */
export function warning<Of extends WarningCode>(code: Of, given: ParamsOf<TextOf<Of>> & { nodeId?: string }): Warning {
  const params = givenOf(given);
  const { nodeId } = given;
  const message = whatHappened({ reason: code, params });
  return { code, params, message, ...(nodeId !== undefined && { nodeId }) };
}

export const maskedWarning = (warning: Warning, hide: (text: string) => string): Warning => ({
  ...warning,
  params: mapTexts(warning.params, hide),
  message: hide(warning.message),
});
