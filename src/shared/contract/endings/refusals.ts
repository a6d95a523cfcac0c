/** The sentences with which the API refuses a request that is not (or no longer) about one execution. The page reads them in its language. */
export const refusals = {
  /** `setting`: the limit's name. */
  bodyTooLarge: (maxBytes: number, setting: string) => `The body is larger than ${maxBytes} bytes (${setting}).`,
  /** `what`: the limit that the key has reached, as in `limits`. */
  limitReached: (name: string, what: string) =>
    `The API key "${name}" may have ${what}. This request was refused and ran nothing. Try again in a moment.`,
  noPermission: (permission: string, name: string, has: string) =>
    `This needs the permission "${permission}", and the API key "${name}" has ${has}.`,
  otherApps: (app: number, name: string, apps: string) =>
    `App ${app} needs an API key for it, and the API key "${name}" is for ${apps}.`,
  keyExpired: (name: string) => `The API key "${name}" has expired: ask for another one.`,
  keyUnknown: () => 'This API key is not known here: it was mistyped, or changed in API_KEYS.',
  keyReused: () => 'This Idempotency-Key was used for a call with another body: use a new key for a new call.',

  unknownExecution: (mockId: string) =>
    `There is no execution ${mockId}, or it is too long ago (HISTORY_COUNT, HISTORY_SECONDS).`,
  nothingKept: (mockId: string, state: string, app: number) =>
    `Execution ${mockId} ended as "${state}". Its input and its answer are not kept: HISTORY_OFF names app ${app}.`,
  executionEnded: (mockId: string) => `Execution ${mockId} has ended already; it cannot be cancelled any more.`,
  notInHistory: (mockId: string) => `Execution ${mockId} is not in the history yet: pin it once it has ended.`,
  pinsFull: (most: number) =>
    `At most ${most} executions can be pinned, in at most half of HISTORY_BYTES. Unpin one first.`,
  tooManySearches: () => 'Too many searches run in this API. Try again in a moment.',

  unknownBatch: (batchId: string) => `There is no batch ${batchId}.`,
  goneBatch: (batchId: string) => `Batch ${batchId} is not kept any more (BATCH_SECONDS, BATCH_BYTES).`,
  unknownItem: (batchId: string, n: string) => `Batch ${batchId} has no item ${n}.`,
  batchEnded: (batchId: string) => `Batch ${batchId} has ended already; it cannot be cancelled any more.`,

  casesGone: () => 'No cases are saved any more. Nothing was changed.',
  casesChanged: () => 'The saved cases have changed since you read them. Nothing was changed: read them again.',

  unknownRule: (app: number, ruleId: string) => `App ${app} has no rule ${ruleId}.`,
  unknownNode: (app: number, confId: string) => `App ${app} has no node ${confId}.`,
  nodeNotInRule: (app: number, ruleId: string, confId: string) => `Rule ${ruleId} of app ${app} has no node ${confId}.`,
  noRules: (app: number) => `App ${app} has no readable rules.`,
  /** `what`: a rule or a node, and why its file is no use. */
  unusableRule: (app: number, what: string) => `In app ${app} the file of ${what}.`,

  // Questions to a worker: about rules, clients and cases.
  workerFailed: () => 'The worker could not answer; its log says why. Try again in a moment.',
  noWorkerAnswered: (timeoutMs: number) => `No worker answered within ${timeoutMs} ms. Try again in a moment.`,
  storeAway: () => 'The queue store cannot be reached. Try again in a moment.',
  answerLost: () => 'The answer could not be read back from the store. Try again in a moment.',
  answerTooNew: () => 'A worker of a newer version answered, in a form this API does not know. Try again in a moment.',
};

/** The limit that a key has reached, as it goes on after "may have". */
export const limits = {
  callsPerSecond: (limit: number) => `at most ${limit} calls a second`,
  openCalls: (limit: number) => `at most ${limit} calls open at once`,
  streams: (limit: number) => `at most ${limit} event streams open at once`,
  batches: (limit: number) => `at most ${limit} batches open at once`,
};
