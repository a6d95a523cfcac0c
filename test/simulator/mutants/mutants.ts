/** A guard that is taken out of the real code. `from` must stand in the file exactly once. */
export type Mutant = {
  name: string;
  file: string;
  from: string;
  to: string;
  /** The small world, or the part of its name, that catches it. */
  world: string;
};

export const mutants: Mutant[] = [
  {
    name: 'a claim is believed without a look at the mark of the sweep',
    file: 'src/worker/files/claims.ts',
    from: '    await refuseSwept(key);\n    const first = isFirst ? own : await find(key);',
    to: '    const first = isFirst ? own : await find(key);',
    world: 'attempt 1, attempt 2, sweeper, client: one preemption and a process that stands still for 15 min',
  },
  {
    name: 'a claim of a minute that may be swept is written',
    file: 'src/worker/files/claims.ts',
    from: '!mayBeSwept(key) && (await writeFirst(key, own))',
    to: 'await writeFirst(key, own)',
    world: 'attempt 1, attempt 2, sweeper, client: one preemption and a process that stands still for 15 min',
  },
  {
    name: 'a refusal is told and not written',
    file: 'src/worker/execution/refuse.ts',
    from: 'return await parts.claims.refuse({ mockId, claimBy: data.claimBy }, noAnswer);',
    to: "return { kind: 'refused', noAnswer };",
    world: 'attempt 1, attempt 2, client: one preemption and a process that stands still for 5 s',
  },
  {
    name: 'a refusal that was not written is told by a later attempt',
    file: 'src/worker/execution/refuse.ts',
    from: '!NOT_WRITTEN.has(errnoOf(error)) || !(await isTheOnlyAttempt(execution, parts))',
    to: '!NOT_WRITTEN.has(errnoOf(error))',
    world: 'attempt 1, attempt 2, client: one preemption and a write that fails',
  },
  {
    name: 'a refusal that may have been written is told as if it had not',
    file: 'src/worker/execution/refuse.ts',
    from: '!NOT_WRITTEN.has(errnoOf(error)) || !(await isTheOnlyAttempt(execution, parts))',
    to: 'false',
    world: 'attempt 1, attempt 2, client: one preemption and a write that fails',
  },
  {
    name: 'a claim that stands there already is taken for one’s own',
    file: 'src/worker/files/claim-file.ts',
    from: "if (code === 'EEXIST') return false;",
    to: "if (code === 'EEXIST') return true;",
    world: 'attempt 1, attempt 2, client: two preemptions',
  },
  {
    name: 'a claim whose writing failed is taken for not written',
    file: 'src/worker/files/claim-file.ts',
    from: 'return found === undefined ? undefined : found === text;',
    to: 'return found === undefined ? undefined : true;',
    world: 'attempt 1, attempt 2, client: one preemption and a lost reply',
  },
  {
    name: 'who finds an earlier claim dispatches his own request',
    file: 'src/worker/execution/claim-at-client.ts',
    from: 'if (temporary && !isUncertain && winner?.temporary !== temporary) await removeTemporary(path, temporary);',
    to: 'if (winner && temporary) Object.assign(winner, { temporary });',
    world: 'attempt 1, attempt 2, client: two preemptions',
  },
  {
    name: 'the request is taken back without the hidden file of a dispatcher that sleeps',
    file: 'src/worker/files/execution-files.ts',
    from: 'const neverDispatched = await isWithdrawn(files, temporary);',
    to: 'const neverDispatched = temporary === undefined;',
    world: 'attempt 1, attempt 2, client: one preemption and a process that stands still for 5 s',
  },
  {
    name: 'a request that is gone counts as taken back',
    file: 'src/worker/files/execution-files.ts',
    from: "(error) => unless('ENOENT', 'ENOTDIR')(error) ?? false,\n  );\n}\n\nasync function removed(",
    to: "(error) => unless('ENOENT', 'ENOTDIR')(error) ?? true,\n  );\n}\n\nasync function removed(",
    world: 'attempt 1, client: one preemption and a process that stands still for 5 s',
  },
  {
    name: 'the sweep takes claims that are younger than any that may be needed',
    file: 'src/shared/contract/claim-age.ts',
    from: 'export const CLAIM_KEPT_MS = ',
    to: 'export const CLAIM_KEPT_MS = 0.0001 * ',
    world: 'attempt 1, attempt 2, sweeper, client: one preemption and a process that stands still for 15 min',
  },
];
