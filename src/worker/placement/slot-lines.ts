import { time } from '../../shared/seams/time.ts';

/** How often those who wait look again: what other workers have at a client changes without a word. */
const LOOK_AGAIN_MS = 20;

type Waiting<Who> = { who: Who; mustGiveUp: () => boolean; end: (how: 'taken' | 'none') => void };
type Line<Who> = Set<Waiting<Who>>;

/**
 * Those who wait for a slot, in the order in which they came; a line for each client. However many wait in a line, one timer looks for all
 * of them. `serve`: gives them what is free.
 */
export function createLines<Who>({ serve }: { serve: (directory: string) => void }) {
  const lines = new Map<string, Line<Who>>();
  const nobody: Line<Who> = new Set();
  const of = (directory: string): ReadonlySet<Waiting<Who>> => lines.get(directory) ?? nobody;

  function end(directory: string, waiting: Waiting<Who>, how: 'taken' | 'none'): void {
    lines.get(directory)?.delete(waiting);
    waiting.end(how);
  }

  function begin(directory: string): Line<Who> {
    const line: Line<Who> = new Set();
    lines.set(directory, line);
    lookLater(directory);
    return line;
  }

  function lookLater(directory: string): void {
    time.setTimeout(() => {
      for (const waiting of of(directory)) if (waiting.mustGiveUp()) end(directory, waiting, 'none');
      serve(directory);
      if (of(directory).size > 0) lookLater(directory);
      else lines.delete(directory);
    }, LOOK_AGAIN_MS);
  }

  return {
    of,
    end,
    wait: (directory: string, who: Who, mustGiveUp: () => boolean): Promise<'taken' | 'none'> =>
      new Promise((resolve) => (lines.get(directory) ?? begin(directory)).add({ who, mustGiveUp, end: resolve })),
  };
}
