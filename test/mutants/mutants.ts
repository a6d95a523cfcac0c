/** A fault put into the real code: `from`, which must stand in the file exactly once, becomes `to`. */
export type Mutant = { name: string; file: string; from: string; to: string };

/** Takes a statement out. */
const without = (name: string, file: string, from: string): Mutant => ({ name, file, from, to: '' });

/** Guards taken out, comparisons turned, constants changed, errors swallowed: what the tests of each change must notice. */
export const mutants: readonly Mutant[] = [
  // src/api
  without(
    'bodies of open calls have no limit',
    'src/api/calls/admission.ts',
    'if (open + bytes > maxBytes) return false;',
  ),
  {
    name: 'a page of another origin may change something',
    file: 'src/api/access/authenticate.ts',
    from: 'if (byBrowser && changesSomething(context) && !comesFromHere(context, origins)) return foreign(context);',
    to: '',
  },
  {
    name: 'an event stream goes on without the right to read',
    file: 'src/api/access/authenticate.ts',
    from: " || !now.caller.may.has('read')",
    to: '',
  },
  {
    name: 'any Host is believed',
    file: 'src/api/http/middleware.ts',
    from: '|| own(given)',
    to: '|| own(given) || true',
  },
  {
    name: 'a key for some apps sees the apps of others',
    file: 'src/api/routes/browse.ts',
    from: 'apps === null ? whole : (body) => onlyApps(body, apps)',
    to: 'whole',
  },
  {
    name: 'a key for some apps may use another one',
    file: 'src/api/access/authenticate.ts',
    from: 'if (isFor(caller, app) || caller.apps === null) return undefined;',
    to: 'if (isFor(caller, app) || true) return undefined;',
  },
  without(
    'a failed sign-in is not in the audit log',
    'src/api/http/middleware.ts',
    "if (status === 401) return 'failed sign-in';",
  ),
  without(
    'event streams count as calls',
    'src/api/access/limits.ts',
    "if (path.endsWith('/events')) return 'streams';",
  ),
  {
    name: 'a batch may have ten times as many targets',
    file: 'src/api/batches/read-batch-request.ts',
    from: 'const MAX_TARGETS = 100;',
    to: 'const MAX_TARGETS = 1000;',
  },
  without(
    'coverage of one target counts every target',
    'src/api/batches/items.ts',
    'if (target !== undefined && batch.targets[targetIndex] !== target) continue;',
  ),
  {
    name: 'items of an app in HISTORY_OFF show their data',
    file: 'src/api/batches/shown-item.ts',
    from: "if (privacy.isOff(app)) return { one: withoutData(one), head, detail: null, masked: ['*'] };",
    to: '',
  },
  {
    name: 'a request without Origin comes from our own page',
    file: 'src/api/access/authenticate.ts',
    from: "return req.header('sec-fetch-site') === 'same-origin';",
    to: 'return true;',
  },
  // src/shared
  {
    name: 'a time of 25 o’clock is one',
    file: 'src/shared/contract/moment.ts',
    from: 'if (Number(hour) > 23 || ',
    to: 'if (Number(hour) > 99 || ',
  },
  {
    name: 'a name of a target may be of any length',
    file: 'src/shared/contract/target.ts',
    from: 'if (Buffer.byteLength(name) > MAX_NAME_BYTES)',
    to: 'if (Buffer.byteLength(name) > 100 * MAX_NAME_BYTES)',
  },
  {
    name: 'every reply of Redis with an error is a refusal',
    file: 'src/shared/store/store-error.ts',
    from: 'return REFUSALS.test(error.message);',
    to: 'return true;',
  },
  {
    name: 'text that is cut is shown although it may hold a masked value',
    file: 'src/shared/privacy/hide-at.ts',
    from: "if (scanned.kind !== 'complete') return HIDDEN;",
    to: "if (scanned.kind !== 'complete') return raw;",
  },
  {
    name: 'values before a write are not masked',
    file: 'src/shared/privacy/mask-answer.ts',
    from: "name !== 'value' && name !== 'before'",
    to: "name !== 'value'",
  },
  {
    name: 'an embedded table has no limit',
    file: 'src/shared/store/key-value-store.ts',
    from: 'if (bytes <= maxBytes || oldest === newest) return;',
    to: 'if (bytes > 0 || oldest === newest) return;',
  },
  {
    name: 'an entry that is out of time is of no known state',
    file: 'src/shared/contract/trace-entries.ts',
    from: "if (outOfTime !== undefined) return { state: 'OUT_OF_TIME', inverted: false, ms: null };",
    to: '',
  },
  {
    name: 'two names that differ much are near',
    file: 'src/shared/contract/near-miss.ts',
    from: 'if (Math.abs(a.length - b.length) > 1) return false;',
    to: 'if (Math.abs(a.length - b.length) <= 1) return false;',
  },
  // src/worker
  {
    name: 'a request that nobody took is left there at the deadline',
    file: 'src/worker/execution/next.ts',
    from: "if (state.kind !== 'picked-up') return withdraw(state, 'deadline', context);",
    to: '',
  },
  {
    name: 'a withdrawn request waits for an answer that cannot come',
    file: 'src/worker/execution/next.ts',
    from: "if (isWithdrawn) return unanswered(state, withdrawn('left-before-pick-up', facts));",
    to: '',
  },
  without(
    'a member that stands twice is believed',
    'src/shared/contract/client-files.ts',
    "if (scanned.duplicates.length > 0) return wrong(fault('result-twice', { names: scanned.duplicates.join(', ') }));",
  ),
  {
    name: 'an answer to another execution is taken',
    file: 'src/shared/contract/client-files.ts',
    from: "if (id && (id.kind !== 'string' || JSON.parse(id.raw) !== mockId))",
    to: "if (id && id.kind !== 'string')",
  },
  without(
    'success may be anything',
    'src/shared/contract/client-files.ts',
    `  [
    'success',
    (member) => (member ? fault('result-bad-success', { value: shortened(member.raw) }) : fault('result-no-success')),
  ],
`,
  ),
  without(
    'a late text that is no answer is removed while it may still be written',
    'src/worker/execution/late-results.ts',
    'if (!isSame) return;',
  ),
  {
    name: 'a late answer of another end is kept',
    file: 'src/worker/execution/late-results.ts',
    from: 'if (!record || !mayComeLate(record)) return false;',
    to: 'if (!record) return false;',
  },
  {
    name: 'a result that is half there is wrong at once',
    file: 'src/worker/files/results/result-file.ts',
    from: 'const WRONG_FOR_MS = 2000;',
    to: 'const WRONG_FOR_MS = 0;',
  },
  without(
    'a client is blamed for what is not its fault',
    'src/worker/batches/judge-target.ts',
    'if (NOT_THE_CLIENT.includes(ending.noAnswer.code)) return;',
  ),
  {
    name: 'a batch goes on although its client is silent',
    file: 'src/worker/batches/judge-target.ts',
    from: 'const UNANSWERED_IN_A_ROW = 3;',
    to: 'const UNANSWERED_IN_A_ROW = 30;',
  },
  {
    name: 'items of an app in HISTORY_OFF keep their data',
    file: 'src/worker/batches/run-target.ts',
    from: 'if (privacy.isOff(app)) return { head: withoutOutcome(item.head), detail: null };',
    to: '',
  },
  without(
    'a stopping worker keeps its waits',
    'src/worker/execution/execution.ts',
    'if (handingOver) throw new HandedOver();',
  ),
  without(
    'a stopping worker refuses what waits for a slot',
    'src/worker/execution/begin.ts',
    "if (interrupts.handingOver) return { kind: 'give-back' };",
  ),
  without(
    'more run at a client than may',
    'src/worker/placement/client-slots.ts',
    'if (inUse(directory) >= limit) return;',
  ),
  {
    name: 'one key may fill a client',
    file: 'src/worker/placement/client-slots.ts',
    from: 'if (key === null) return free > 0;',
    to: 'if (free > 0) return true;',
  },
  without(
    'a rule that runs in a circle is sent',
    'src/worker/placement/inspections.ts',
    'if (cycle !== null) return ofCycle(data, cycle);',
  ),
  {
    name: 'cancelled before it began, it runs',
    file: 'src/worker/execution/begin.ts',
    from: "if (parts.interrupts.isCancelled(mockId))\n    return refuse(noAnswer('cancelled-before-dispatch', { mockId }), execution, parts);",
    to: '',
  },
  // src/cli
  {
    name: 'a script is told that a call did not run, which nobody knows',
    file: 'src/cli/terminal/exit-codes.ts',
    from: "if (ending?.code === 'outcome-unknown') return exitCodes.unknown;",
    to: '',
  },
  {
    name: 'a refusal that may have run counts as one that did not',
    file: 'src/cli/terminal/exit-codes.ts',
    from: 'if (mayHaveRun) return exitCodes.unknown;',
    to: '',
  },
  {
    name: 'a batch in a table with wrong rows runs',
    file: 'src/cli/cases/batch.ts',
    from: "if (read.kind === 'refused')",
    to: "if (read.kind === 'refused' && read.refusals.length > 1e9)",
  },
];
