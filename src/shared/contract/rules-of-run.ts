import { z } from 'zod';
import { RawNumber } from './json/raw-number.ts';

/**
 * The rules that an execution ran on, as far as they are known. `released`: the version of the app's files when it was sent. `loaded`: the
 * version that its client had told by then. `digest`: of the rule and every node it reaches, as they were then. `told`: the answer itself
 * said `loaded` and `digest`, so these are the rules that ran. `unsure`: the files had changed without a new version, so that clients may hold
 * them as they were before. `about`: another version was released before the answer came, and the answer does not say which one ran.
 */
export const rulesOfRunSchema = z.object({
  released: z.string().nullable(),
  loaded: z.string().nullable(),
  digest: z.string().nullable(),
  told: z.literal(true).optional(),
  unsure: z.literal(true).optional(),
  about: z.literal(true).optional(),
});
export type RulesOfRun = z.infer<typeof rulesOfRunSchema>;

/** The rules that an answer says it ran on. */
export const toldRulesSchema = z.object({
  version: z
    .instanceof(RawNumber)
    .transform(({ text }) => text)
    .pipe(z.string().regex(/^\d{1,19}$/)),
  digest: z.string().regex(/^[\w-]{22}$/),
});
export type ToldRules = z.infer<typeof toldRulesSchema>;

/**
 * What is known of the rules once the answer is there: what it tells; else what was known at the dispatch (`sent`), and whether that version was
 * the released one until then.
 */
export function rulesOnceAnswered(
  sent: RulesOfRun | undefined,
  { told, isStillReleased }: { told: ToldRules | null; isStillReleased: boolean },
): RulesOfRun | undefined {
  if (told !== null) return { released: sent?.released ?? null, loaded: told.version, digest: told.digest, told: true };
  return sent === undefined || sent.digest === null || isStillReleased ? sent : { ...sent, about: true };
}

/** The same for `stringifyExact`: versions are printed as the integers they are. */
export function printedRules(rules: RulesOfRun | null) {
  const id = (text: string | null) => (text === null ? null : BigInt(text));
  return rules && { ...rules, released: id(rules.released), loaded: id(rules.loaded) };
}

/** A tree is kept this much longer than the executions that ran on it, so that it never leaves before them. */
export const TREE_KEPT_BEYOND_SECONDS = 7200;
