/** Traces that each published client wrote over the same rules, and how the tree must be painted by them. */
const ARE_NOT_LISTED = 'not known: the client’s trace does not list nodes that run in parallel';

const stoppedAtAny = [
  '  (P-ALL pall #53 · not reached: “pany” #52 is FALSE)',
  '    (age #61 · did not run, like “pall” #53 above it)',
  '    (age99 #63 · did not run, like “pall” #53 above it)',
  '  (P-always NONE pnone #54 · not reached: “pany” #52 is FALSE)',
  '    (slow #64 · did not run, like “pnone” #54 above it)',
  '    (age99 #63 · did not run, like “pnone” #54 above it)',
  '  (P-always TRUE ptrue #55 · not reached: “pany” #52 is FALSE)',
  '    (age99 #63 · did not run, like “ptrue” #55 above it)',
];
const stoppedWhy =
  '“pany” #52 came to TRUE and is inverted, so it counts as FALSE. “par” #50 is FALSE because “pany” #52 is FALSE. The nodes after “pany” #52 did not run.';

export const tracesOf = {
  python: {
    times: { later: '0 ms' },
    outside: '[133:AgeFlow:O-I:0]',
    parallel: {
      process: '[51:P-And:T:1][52:P-Any:T-I:0][50:And:F:1]',
      painted: [
        'AND par #50 FALSE · 1 ms',
        '  P-AND pand #51 TRUE · 1 ms',
        `    (age #61 · ${ARE_NOT_LISTED})`,
        `    (amt #62 · ${ARE_NOT_LISTED})`,
        '  P-ANY pany #52 FALSE · 0 ms',
        `    (age #61 · ${ARE_NOT_LISTED})`,
        `    (age99 #63 · ${ARE_NOT_LISTED})`,
        ...stoppedAtAny,
      ],
      why: `The client’s trace does not list what ran below “pany” #52. ${stoppedWhy}`,
    },
    straggling: null,
  },
  java: {
    times: { later: '1 ms' },
    outside: '[133:AgeFlow:O]',
    parallel: {
      process:
        '[61:AgeFlow:T:0][62:AmountResult:T:0][51:P-And:T:4][61:AgeFlow:T:0][63:AgeFlow:F:0][0:P-Any:T:0][61:AgeFlow:T:0][63:AgeFlow:F:0][53:P-All:T:0][63:AgeFlow:F:0][64:SleepNone:N:30][54:P-None:N:31][63:AgeFlow:F:0][55:P-True:F:0][50:And:F:35]',
      painted: [
        'AND par #50 FALSE · 35 ms',
        '  P-AND pand #51 TRUE · 4 ms',
        '    age #61 TRUE · 0 ms',
        '    amt #62 TRUE · 0 ms',
        '  P-ANY pany #52 TRUE · 0 ms',
        '    age #61 TRUE · 0 ms',
        '    age99 #63 FALSE · 0 ms',
        '  P-ALL pall #53 TRUE · 0 ms',
        '    age #61 TRUE · 0 ms',
        '    age99 #63 FALSE · 0 ms',
        '  P-always NONE pnone #54 NONE · 31 ms',
        '    slow #64 NONE · 30 ms',
        '    age99 #63 FALSE · 0 ms',
        '  P-TRUE ptrue #55 FALSE · passes on the result of its only child · 0 ms',
        '    age99 #63 FALSE · 0 ms',
      ],
      why: '“age99” #63 is FALSE: in the input, age is missing, min is 99. “ptrue” #55 should always come to TRUE, but the client’s SDK gives a parallel node with one child that child’s result. “age99” #63 is FALSE, so “ptrue” #55 is FALSE. “par” #50 is FALSE because “ptrue” #55 is FALSE.',
    },
    straggling: {
      process: '[121:AgeFlow:T:0][0:P-Any:T:3][162:SleepNone:N:50][163:SleepNone:N:100][160:And:T:103]',
      painted: [
        'AND in a hurry #160 TRUE · 103 ms',
        '  P-ANY first to say yes #161 TRUE · 3 ms',
        '    age #121 TRUE · 0 ms',
        '    nap #162 NONE · ended after the node above it had its result · 50 ms',
        '  sleep #163 NONE · 100 ms',
      ],
    },
  },
  go: {
    times: { later: '0 ms' },
    outside: '[133:AgeFlow:O-I:0]',
    parallel: {
      process:
        '[62:AmountResult:T:0][61:AgeFlow:T:0][51:P-And:T:0][63:AgeFlow:F:0][61:AgeFlow:T:0][52:P-Any:T-I:0][50:And:F:0]',
      painted: [
        'AND par #50 FALSE · 0 ms',
        '  P-AND pand #51 TRUE · 0 ms',
        '    age #61 TRUE · 0 ms',
        '    amt #62 TRUE · 0 ms',
        '  P-ANY pany #52 FALSE · 0 ms',
        '    age #61 TRUE · 0 ms',
        '    age99 #63 FALSE · 0 ms',
        ...stoppedAtAny,
      ],
      why: `“age” #61 is TRUE: in the input, age is missing, min is 18. “pany” #52 is TRUE because “age” #61 is TRUE. ${stoppedWhy}`,
    },
    straggling: {
      process: '[121:AgeFlow:T:0][161:P-Any:T:0][162:SleepNone:N:50][163:SleepNone:N:101][160:And:T:101]',
      painted: [
        'AND in a hurry #160 TRUE · 101 ms',
        '  P-ANY first to say yes #161 TRUE · 0 ms',
        '    age #121 TRUE · 0 ms',
        '    nap #162 NONE · ended after the node above it had its result · 50 ms',
        '  sleep #163 NONE · 101 ms',
      ],
    },
  },
};
