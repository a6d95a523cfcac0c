import { en } from './en.ts';
import type { Dictionary } from './use-text.tsx';

export const zh: Dictionary = en;
