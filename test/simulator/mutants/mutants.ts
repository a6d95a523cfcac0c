/** A text of the real code that is replaced. `from` must stand in the file exactly once. */
export type Change = { file: string; from: string; to: string };

/** A guard that is taken out of the real code. */
export type Mutant = Change & {
  name: string;
  /** Other guards that would prevent the same: they are taken out as well, so that it counts what this one does. */
  also?: readonly Change[];
  /** The small world, or the part of its name, that catches it; or `SEEDS`, with the first one if that is not 1; or `PLAN` with its name. */
  world: string;
};

/** A large world that is about one guard, by its name. */
export const PLAN = 'plan:';
/** Large worlds, by their seeds. */
export const SEEDS = 'seeds';

const begin = 'src/worker/execution/begin.ts';
const claims = 'src/worker/files/claims/claims.ts';
const mailbox = 'src/worker/files/mailbox.ts';
const sweep = 'src/worker/upkeep/sweep.ts';
const next = 'src/worker/execution/next.ts';
const runBatch = 'src/worker/batches/run-batch.ts';
const runTarget = 'src/worker/batches/run-target.ts';

const looksForMark: Change = {
  file: claims,
  from: '    await refuseSwept(key);\n    const first = isFirst ? own : await find(key);',
  to: '    const first = isFirst ? own : await find(key);',
};
const refusesOnlyInTime: Change = { file: claims, from: '      if (mayBeSwept(key)) throw swept(key);\n', to: '' };
const looksUnderKey: Change = {
  file: begin,
  from: '  if (!once) return null;',
  to: '  if (once !== null) return null;',
};
const holdsKey: Change = {
  file: begin,
  from: 'data.once && (await claims.hold({ mockId, claimBy: data.claimBy }, data.once))',
  to: 'null',
};

/**
 * Not here, because others do the same and nothing changes without them: the look in `Claims.claim` whether the minute may be swept (in
 * `begin` the look whether it is too late comes just before it, with no step in between); the look for an earlier claim before anything
 * else, and with it `hasFolder` (whatever is decided without it is written in the claim's place, or not told; see the one below that takes
 * out both); the order in `prepareUnlessPast` (whoever slept in it is too late at the look before the claim).
 */
export const mutants: Mutant[] = [
  // The claim.
  {
    name: 'a claim is believed without a look at the mark of the sweep',
    ...looksForMark,
    world: 'the queue store brings the execution back after the sweep, the clock of its worker 20 min behind',
  },
  {
    name: 'a claim that stands there already is taken for one’s own',
    file: claims,
    from: "if (code === 'EEXIST') return false;",
    to: "if (code === 'EEXIST') return true;",
    world: 'attempt 1, attempt 2, client: two preemptions',
  },
  {
    name: 'another’s claim is taken for one’s own when the reply was lost',
    file: claims,
    from: 'return found === undefined ? undefined : found === text;',
    to: 'return found === undefined ? undefined : true;',
    world: 'attempt 1, attempt 2, client: one preemption and a write of which nothing is known',
  },
  {
    name: 'where links are missing the last claim counts',
    file: claims,
    from: "{ flag: 'wx' }",
    to: "{ flag: 'w' }",
    world: 'attempt 1, attempt 2, client: no links',
  },
  {
    name: 'who finds an earlier claim dispatches his own request',
    file: begin,
    from: 'if (temporary && !isUncertain && winner?.temporary !== temporary) await mailbox.discard(path, temporary);',
    to: 'if (winner && temporary) Object.assign(winner, { temporary });',
    world: 'attempt 1, attempt 2, client: two preemptions',
  },
  {
    name: 'the request is not the file that the claim names',
    file: mailbox,
    from: '{ mockId, temporary }: Claim): Promise<boolean> {\n  try {',
    to: '{ mockId }: Claim): Promise<boolean> {\n  try {\n    const temporary = (await directory.list()).find((name) => name.endsWith(mockId.concat(".json")) === false && name.includes(mockId)) ?? String();',
    world: 'attempt 1, attempt 2, client: one preemption and a crash',
  },
  {
    name: 'all attempts write their request under one name',
    file: mailbox,
    from: 'temporaryFileName(content.mockId, random.hex(4))',
    to: "temporaryFileName(content.mockId, 'request')",
    world: 'attempt 1, attempt 2, client: who lives answers in any order',
  },
  {
    name: 'a request that an uncertain claim may name is removed',
    file: begin,
    from: 'isUncertain = error instanceof UncertainClaim || error instanceof UnknownClaim;',
    to: 'isUncertain = false;',
    world: 'attempt 1, client: who lives answers though a look fails',
  },
  // Refusals.
  {
    name: 'a refusal is told and not written',
    file: begin,
    from: 'return await parts.claims.refuse({ mockId, claimBy: data.claimBy }, refusal);',
    to: "return { kind: 'refused', noAnswer: refusal };",
    world: 'attempt 2 comes too late, and attempt 1 sleeps until then',
  },
  {
    name: 'a refusal that was not written is told by a later attempt',
    file: begin,
    from: "if (await isTheOnlyAttempt(execution, storeRun)) return { kind: 'refused', noAnswer: refusal };",
    to: "return { kind: 'refused', noAnswer: refusal };",
    world: 'the disk is full for attempt 2',
  },
  {
    name: 'a refusal that may have been written is told as if it had been',
    file: begin,
    from: 'if (!NOT_WRITTEN.has(errnoOf(error))) throw error;',
    to: "if (!NOT_WRITTEN.has(errnoOf(error))) return { kind: 'refused', noAnswer: refusal };",
    world: 'attempt 2 cannot write, and its disk does not say what happened',
  },
  {
    name: 'the count of attempts is believed though the queue store lost its data',
    file: begin,
    from: 'return firstAttempt && data.storeRun !== undefined && data.storeRun === (await storeRun.ask());',
    to: 'return firstAttempt && data.storeRun !== (await storeRun.ask()) + data.storeRun;',
    world: 'the queue store forgot attempt 1, and the disk is full for attempt 2',
  },
  {
    name: 'a refusal is written where the claims may have been swept, mark and all',
    ...refusesOnlyInTime,
    world: 'the queue store brings the execution back after a day',
  },
  {
    name: 'a fence is put where the claims may have been swept, mark and all',
    ...refusesOnlyInTime,
    world: 'a fence after a day',
  },
  {
    name: 'a later attempt decides though the folder of the claims is gone',
    file: begin,
    from: 'if (!earlier && sharedDirectory.clock.isPast(claimBy) && !(await claims.hasFolder({ claimBy })))',
    to: 'if (earlier === undefined)',
    also: [refusesOnlyInTime],
    world: 'another attempt after a day',
  },
  {
    name: 'a claim is told as a fence',
    file: 'src/worker/queries/fence.ts',
    from: "isClaimed ? 'claimed' : 'fenced'",
    to: "'fenced'",
    world: 'attempt 1, fence, client: two preemptions',
  },
  // Taking the request back.
  {
    name: 'the request is taken back without the hidden file of a dispatcher that sleeps',
    file: mailbox,
    from: 'const neverDispatched = await isTaken(claim.temporary);',
    to: 'const neverDispatched = await own.has(claim.temporary);',
    world: 'attempt 2 comes after the deadline, and attempt 1 sleeps until then',
  },
  {
    name: 'a request that is gone counts as taken back',
    file: mailbox,
    from: 'own.rename(from, withdrawn).then(() => true, orFalse)',
    to: 'own.rename(from, withdrawn).then(() => true, () => true)',
    world: 'attempt 1, client: the client sleeps until the deadline',
  },
  {
    name: 'a request is taken back by a look, not by a rename',
    file: mailbox,
    from: 'return neverDispatched || (await isTaken(request)) || own.has(withdrawn);',
    to: 'return neverDispatched || own.has(request);',
    world: 'attempt 1, client: the client sleeps until the deadline',
  },
  // The sweeps.
  {
    name: 'a minute is swept without a mark',
    file: claims,
    from: "await rename(folder, folder + SWEPT).catch(unless('ENOENT')); // another worker was faster",
    to: 'await rm(folder, { recursive: true, force: true });',
    world: 'attempt 2 comes with the sweep, its clock 20 min behind',
  },
  {
    name: 'claims are swept by their minute alone',
    file: claims,
    from: 'return found !== undefined && now - found.mtimeMs > CLAIM_KEPT_MS;',
    to: 'return found !== undefined;',
    world: 'a sweep meanwhile, and the clock of the machine with the API 30 min behind',
  },
  {
    name: 'the sweep takes files of any age',
    file: sweep,
    from: '    if (!(await isOld(name))) return;\n',
    to: '',
    world: 'a sweep meanwhile',
  },
  {
    name: 'the sweep leaves files that nobody waits for',
    file: sweep,
    from: 'await tryEach(names.filter(isOurFile), sweepFile, onError);',
    to: '',
    world: 'nothing is left after a day',
  },
  {
    name: 'a half emptied mark is not emptied',
    file: claims,
    from: '    if (!emptied.has(mark)) await emptyMark(mark);\n',
    to: '',
    world: 'the sweeper is killed, and another one comes after a day',
  },
  // Kept answers.
  {
    name: 'an answer is not kept',
    file: mailbox,
    from: 'await keep(false).catch(() => keep(true));',
    to: 'await removeAnswer(of(claim), mockId);',
    world: 'answers are kept for 20 s',
  },
  {
    name: 'answers are swept too soon',
    file: 'src/worker/files/kept-answers.ts',
    from: 'const FOLDERS_KEPT = 3;',
    to: 'const FOLDERS_KEPT = 0;',
    world: 'answers are kept for 20 s',
  },
  // Directories.
  {
    name: 'a link in the place of a directory is followed',
    file: 'src/worker/files/client-directory.ts',
    from: '{ noFollow: true }',
    to: '{ noFollow: false }',
    world: 'a link takes the place of the directory',
  },
  // The wait.
  {
    name: 'at the deadline the request is said to be taken back, and is not',
    file: next,
    from: "if (state.kind !== 'picked-up') return withdraw(state, 'deadline', context);",
    to: "if (state.kind !== 'picked-up') return unanswered(state, whatWasMissing(state, true, facts));",
    world: 'the client sleeps until the deadline',
  },
  {
    name: 'at the deadline a request counts as taken back whatever the withdrawal says',
    file: next,
    from: 'return unanswered(state, whatWasMissing(state, isWithdrawn, facts));',
    to: 'return unanswered(state, whatWasMissing(state, true, facts));',
    world: SEEDS,
  },
  {
    name: 'an attempt that goes on takes a request that it does not find for taken back',
    file: next,
    from: '  if (found === null || faultOf(state.unusable) !== undefined) return stay(state);\n',
    to: '',
    world: SEEDS,
  },
  {
    name: 'a cancel says that the client did not have the request, whatever the withdrawal says',
    file: next,
    from: "if (isWithdrawn) return unanswered(state, withdrawn('cancelled-before-pick-up', facts));",
    to: "return unanswered(state, withdrawn('cancelled-before-pick-up', facts));",
    world: SEEDS,
  },
  {
    name: 'a cancel takes nothing back',
    file: next,
    from: 'return withdraw(state, event.why, context);',
    to: "return unanswered(state, withdrawn('cancelled-before-pick-up', context.facts));",
    world: SEEDS,
  },
  // The calls.
  {
    name: 'a job that is added again does not say so',
    file: 'src/api/calls/submit-execution.ts',
    from: '{ ...data, addedAgain: true }',
    to: 'data',
    also: [
      { file: 'src/api/calls/pending-executions.ts', from: '{ ...call.data, addedAgain: true }', to: 'call.data' },
      {
        file: begin,
        from: 'return firstAttempt && data.storeRun !== undefined && data.storeRun === (await storeRun.ask());',
        to: 'return firstAttempt;',
      },
    ],
    world: `${PLAN} the queue store forgets calls whose worker stands still`,
  },
  {
    name: 'a job whose reply was lost counts as not sent',
    file: 'src/api/calls/submit-execution.ts',
    from: 'if (wasNotSent(error))',
    to: 'if (error)',
    world: `${SEEDS} 40`,
  },
  {
    name: 'a job that is not taken off the queue is said to be',
    file: 'src/api/calls/pending-executions.ts',
    from: 'if (!(await queue.removeWaiting(mockId))) return false;',
    to: 'await queue.removeWaiting(mockId);',
    also: [{ file: 'src/api/calls/pending-executions.ts', from: 'if (!short || short.begun) return false;', to: '' }],
    world: SEEDS,
  },
  {
    name: 'an execution that is taken off the queue is not refused in the place of its claim',
    file: 'src/api/calls/pending-executions.ts',
    from: 'await fence(mockId, claimBy, once)',
    to: "'fenced'",
    world: `${PLAN} a call that its caller left comes back`,
  },
  {
    name: 'a call that no worker took in time is not refused in the place of its claim',
    file: 'src/api/calls/pending-executions.ts',
    from: '      : revoke(mockId, didNotRun);',
    to: '      : revokeUnfenced(mockId, didNotRun);',
    world: `${PLAN} a call that no worker took in time comes back`,
  },
  {
    name: 'the job of another API counts as the first one of its id',
    file: 'src/api/calls/pending-executions.ts',
    from: 'replyTo === jobs.replyTo && !addedAgain',
    to: 'replyTo !== undefined && !addedAgain',
    world: `${PLAN} a keyed call is asked for again at another API, and no worker runs`,
  },
  // Keys.
  {
    name: 'the id of a keyed call is random',
    file: 'src/api/idempotency/idempotency.ts',
    from: 'return { mockId: once.key, known };',
    to: 'return { mockId: known ? once.key : mockId, known };',
    also: [looksUnderKey, holdsKey],
    world: `${PLAN} a keyed call is asked for again that the queue store forgot`,
  },
  {
    name: 'the id of a keyed batch is random',
    file: 'src/api/batches/create-batch.ts',
    from: 'known === null || ofKey ? once.key : random.uuid()',
    to: 'random.uuid()',
    also: [looksUnderKey, holdsKey],
    world: `${PLAN} a keyed batch is asked for again that the queue store forgot`,
  },
  {
    name: 'a keyed call that no worker took is said not to have run',
    file: 'src/api/calls/pending-executions.ts',
    from: "  if (once !== undefined) return noAnswer('no-worker-for-keyed', fault ? asFault(fault) : {});\n",
    to: '',
    world: `${PLAN} a keyed call is asked for again that the queue store forgot, and no worker runs`,
  },
  {
    name: 'a keyed call does not look for what ran under its key in another minute',
    ...looksUnderKey,
    also: [holdsKey],
    world: `${PLAN} a keyed call is asked for again in another minute`,
  },
  {
    name: 'an item of a keyed batch does not look for what ran under its key in another minute',
    ...looksUnderKey,
    also: [holdsKey],
    world: `${PLAN} a keyed batch is asked for again in another minute`,
  },
  // Batches.
  {
    name: 'an item that is settled is sent all the same',
    file: runTarget,
    from: 'const claimBy = await recordBegin(self, sent);',
    to: 'const claimBy = (await recordBegin(self, sent)) ?? sent.claimBy;',
    world: `${PLAN} a batch is cancelled while its worker stands still`,
  },
  {
    name: 'a batch ends although items lack their endings',
    file: runBatch,
    from: "  if (await lacksEndings(batchId, store)) throw new Error('the queue store lost how some of its items ended');\n",
    to: '',
    world: `${PLAN} the queue store forgets how items of a batch ended`,
  },
];
