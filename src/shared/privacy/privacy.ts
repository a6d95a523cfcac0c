import { z } from 'zod';
import { parsePath } from '../cases/path.ts';
import { issueOf } from '../contract/issues.ts';
import type { HiddenField } from './hide-at.ts';
import { createMask, type Mask } from './mask.ts';

const APP = /^[1-9]\d{0,9}$/;
const MAX_APP = 2_147_483_647;
const PARTS = /(?:"(?:[^"\\]|\\.)*"|[^,"])+/g;

const isApp = (text: string) => APP.test(text) && Number(text) <= MAX_APP;

/** `7:customer.phone,9:cards[0].number`: the fields to hide, by app. */
export const maskSetting = z
  .string()
  .default('')
  .transform((text, context) => {
    const fields = new Map<number, HiddenField[]>();
    for (const part of text.match(PARTS) ?? []) {
      const [app = '', ...rest] = part.trim().split(':');
      const path = rest.join(':').trim();
      const steps = parsePath(path);
      if (!isApp(app) || steps === null) {
        const wrong = isApp(app) ? { expected: 'path', found: path } : { expected: 'app-id', found: app };
        context.addIssue(issueOf({ problem: 'masked-field', ...wrong }));
        return z.NEVER;
      }
      fields.set(Number(app), [...(fields.get(Number(app)) ?? []), { path, steps }]);
    }
    return fields;
  });

/** `1,9001`: the apps of which no data is kept. */
export const historyOffSetting = z
  .string()
  .default('')
  .transform((text, context) => {
    const apps = text.split(',').flatMap((part) => part.trim() || []);
    const wrong = apps.find((app) => !isApp(app));
    if (wrong === undefined) return new Set(apps.map(Number));
    context.addIssue(issueOf({ problem: 'invalid-format', expected: 'app-ids', example: '1,9001', found: wrong }));
    return z.NEVER;
  });

type PrivacySettings = {
  MASK: ReadonlyMap<number, readonly HiddenField[]>;
  HISTORY_OFF: ReadonlySet<number>;
};

export type Privacy = ReturnType<typeof createPrivacy>;

/**
 * The fields of executions that are hidden (MASK), and the apps of which no data is kept (HISTORY_OFF): their records stay, without input,
 * answer, warnings and rules (`store/history/history.ts`). docs/run/security.md says what is kept where, and for how long.
 */
export function createPrivacy({ MASK, HISTORY_OFF }: PrivacySettings) {
  return {
    isOff: (app: number): boolean => HISTORY_OFF.has(app),
    /** Apps that keep nothing. */
    off: HISTORY_OFF,
    /** A mask for the texts of one execution of an app; null where everything may be shown. */
    maskFor(app: number): Mask | null {
      const fields = MASK.get(app);
      return fields === undefined ? null : createMask(fields);
    },
    /** Whether what is kept of an app differs from what its callers get. */
    isPrivate: (app: number): boolean => HISTORY_OFF.has(app) || MASK.has(app),
    /** Whether nothing at all is hidden. */
    isEmpty: MASK.size === 0 && HISTORY_OFF.size === 0,
  };
}
