import type { SdkName } from './toolchains.ts';

/** Rule 11 as its tree must look after a run; below parallel nodes every SDK writes something else. */
export const parallelPictures: Record<SdkName, string[]> = {
  // Writes nothing about what ran below a parallel node.
  python: [
    'AND parallel #120 FALSE · time',
    '  P-AND both #121 TRUE · time',
    '    (age #131 · not known: the client’s trace does not list nodes that run in parallel)',
    '    (issue #132 · not known: the client’s trace does not list nodes that run in parallel)',
    '  P-ANY neither #122 FALSE · time',
    '    (age #131 · not known: the client’s trace does not list nodes that run in parallel)',
    '    (very old #133 · not known: the client’s trace does not list nodes that run in parallel)',
    '  (P-ALL all of them #123 · not reached: “neither” #122 is FALSE)',
    '    (age #131 · did not run, like “all of them” #123 above it)',
    '    (very old #133 · did not run, like “all of them” #123 above it)',
    '  (P-always NONE aside #124 · not reached: “neither” #122 is FALSE)',
    '    (slow #134 · did not run, like “aside” #124 above it)',
    '    (very old #133 · did not run, like “aside” #124 above it)',
    '  (P-always TRUE whatever #125 · not reached: “neither” #122 is FALSE)',
    '    (very old #133 · did not run, like “whatever” #125 above it)',
  ],
  // Forgets the number of a parallel ANY and that it is inverted; one child alone decides for a parallel TRUE.
  java: [
    'AND parallel #120 FALSE · time',
    '  P-AND both #121 TRUE · time',
    '    age #131 TRUE · time',
    '    issue #132 TRUE · time',
    '  P-ANY neither #122 TRUE · time',
    '    age #131 TRUE · time',
    '    very old #133 FALSE · time',
    '  P-ALL all of them #123 TRUE · time',
    '    age #131 TRUE · time',
    '    very old #133 FALSE · time',
    '  P-always NONE aside #124 NONE · time',
    '    slow #134 NONE · time',
    '    very old #133 FALSE · time',
    '  P-TRUE whatever #125 FALSE · passes on the result of its only child · time',
    '    very old #133 FALSE · time',
  ],
  // Lists what ran in the order in which it ended.
  go: [
    'AND parallel #120 FALSE · time',
    '  P-AND both #121 TRUE · time',
    '    age #131 TRUE · time',
    '    issue #132 TRUE · time',
    '  P-ANY neither #122 FALSE · time',
    '    age #131 TRUE · time',
    '    very old #133 FALSE · time',
    '  (P-ALL all of them #123 · not reached: “neither” #122 is FALSE)',
    '    (age #131 · did not run, like “all of them” #123 above it)',
    '    (very old #133 · did not run, like “all of them” #123 above it)',
    '  (P-always NONE aside #124 · not reached: “neither” #122 is FALSE)',
    '    (slow #134 · did not run, like “aside” #124 above it)',
    '    (very old #133 · did not run, like “aside” #124 above it)',
    '  (P-always TRUE whatever #125 · not reached: “neither” #122 is FALSE)',
    '    (very old #133 · did not run, like “whatever” #125 above it)',
  ],
};
