import { changeStyles } from './changes.ts';
import { choiceStyles } from './choices.ts';
import { classStyles } from './classes.ts';
import { functionStyles } from './functions.ts';
import { journeyStyles } from './journeys.ts';
import { keyStyles } from './keys.ts';
import { listStyles } from './lists.ts';
import { lostStyles } from './lost.ts';
import { modernStyles } from './modern.ts';
import type { Style } from './style.ts';
import { teamStyles } from './team.ts';
import { unseenStyles } from './unseen.ts';

/** Every way to write a leaf that the analyzer is held to. */
export const styles: readonly Style[] = [
  ...keyStyles,
  ...listStyles,
  ...functionStyles,
  ...classStyles,
  ...lostStyles,
  ...unseenStyles,
  ...journeyStyles,
  ...choiceStyles,
  ...changeStyles,
  ...modernStyles,
  ...teamStyles,
];
