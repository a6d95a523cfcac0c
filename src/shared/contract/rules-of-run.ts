import { z } from 'zod';
import { RawNumber } from './json/raw-number.ts';
import { int64, text } from './wire.ts';

/** The rules that an execution ran on, as far as they are known. */
export const rulesOfRunSchema = z.object({
  released: int64.nullable().describe('The version of the app when it was sent.'),
  loaded: int64.nullable().describe('The version that its client had told by then; with `told` the one that it ran.'),
  digest: text.nullable().describe('The same for the same rule and nodes: GET tree has it as well.'),
  told: z.literal(true).optional().describe('The answer itself said `loaded` and `digest`: they are what ran.'),
  unsure: z
    .literal(true)
    .optional()
    .describe('The files had changed without a new version: its client may hold them as they were before.'),
  about: z
    .literal(true)
    .optional()
    .describe('Another version was released before the answer came, which does not say what it ran on.'),
});
export type RulesOfRun = z.infer<typeof rulesOfRunSchema>;

/** The digest of the rules that a run surely ran on; null where that is not known. */
export const sureDigest = (rules: RulesOfRun | null): string | null =>
  !rules?.digest || rules.unsure || rules.about ? null : rules.digest;

/** The rules that an answer says it ran on. */
export const reportedRulesSchema = z.object({
  version: z
    .instanceof(RawNumber)
    .transform(({ text }) => text)
    .pipe(z.string().regex(/^\d{1,19}$/)),
  digest: z.string().regex(/^[\w-]{22}$/),
});
export type ReportedRules = z.infer<typeof reportedRulesSchema>;

/**
 * What is known of the rules once the answer is there: what it tells; else what was known at the dispatch (`sent`), and whether that version was
 * the released one until then.
 */
export function rulesOnceAnswered(
  sent: RulesOfRun | undefined,
  { told, isStillReleased }: { told: ReportedRules | null; isStillReleased: boolean },
): RulesOfRun | undefined {
  if (told !== null) return { released: sent?.released ?? null, loaded: told.version, digest: told.digest, told: true };
  return sent === undefined || sent.digest === null || isStillReleased ? sent : { ...sent, about: true };
}

/** A tree is kept this much longer than the executions that ran on it, so that it never leaves before them. */
export const TREE_KEPT_BEYOND_SECONDS = 7200;
