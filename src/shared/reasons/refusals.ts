/** `retryAfterSeconds`: where it is worth a try again. */
type Row<Text extends string = string> = { status: number; text: Text; retryAfterSeconds?: number };

const row = <const Text extends string>(status: number, text: Text, retryAfterSeconds?: number): Row<Text> => ({
  ...{ status, text, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) },
});

const [STOPS, LIMIT, MEMORY, STORE, WORKER] = [1, 1, 2, 2, 5];

/**
 * Every refusal of a request that is not about how one execution ended, by its code: the status and the sentence. `errors` are its problems,
 * which are data of their own.
 */
export const refusals = {
  // What was asked.
  'bad-request': row(400, '{errors}'),
  'malformed-request': row(400, 'This is not a request of HTTP/1.1 that can be read.'),
  'no-host': row(400, 'HTTP/1.1 needs a Host header.'),
  'unusable-address': row(400, 'The address of this request, or its Host header, cannot be used.'),
  'nothing-there': row(404, 'There is nothing at {path}.'),
  'wrong-method': row(405, '{method} is not supported here; use {allowed}.'),
  'no-tunnel': row(405, 'CONNECT is not supported here.'),
  'request-too-slow': row(408, 'The request did not arrive in time.'),
  'body-cut-off': row(400, 'The body was cut off before its end.'),
  'body-too-large': row(413, 'The body is larger than {maxBytes} bytes[ ({setting})].'),
  'chunk-extensions-too-long': row(413, 'The extensions of a chunk are too long.'),
  'compressed-body': row(415, 'Compressed bodies are not read here: send the body without Content-Encoding.'),
  'foreign-type': row(415, 'A browser must send content-type: {types}; anything else could come from a foreign page.'),
  'unknown-expectation': row(417, 'The only expectation that is known here is 100-continue.'),
  'headers-too-long': row(431, 'The address and the headers are too long.'),

  // Who asks.
  'key-missing': row(
    401,
    'This needs an API key: send it as "Authorization: Bearer <key>", or sign in with it in the console.',
  ),
  'key-malformed': row(401, 'This needs an API key: the Authorization header must be "Bearer <key>".'),
  'key-unknown': row(401, 'This API key is not known here: it was mistyped, or changed in API_KEYS.'),
  'key-expired': row(401, 'The API key "{name}" has expired: ask for another one.'),
  'session-ended': row(401, 'Your session has ended, or its key was changed: sign in again.'),
  'person-unknown': row(401, '{name} has signed in, but API_KEYS_FILE does not know this name here.'),
  'no-permission': row(403, 'This needs the permission "{permission}", and the API key "{name}" has {has}.'),
  'other-apps': row(403, 'App {app} needs an API key for it, and the API key "{name}" is for {apps}.'),
  'unknown-host': row(
    403,
    'This server does not go by the name {host}: use its address, or add http://{host} to CORS_ORIGINS.',
  ),
  'foreign-page': row(
    403,
    "A page at {origin} may not change anything here with this browser's session. If that page is this server's own, the proxy in front must pass on Host and X-Forwarded-Proto.",
  ),
  'too-many-calls-of-key': row(
    429,
    'The API key "{name}" may have at most {limit} calls a second. Try again in a moment.',
    LIMIT,
  ),
  'too-many-open-calls': row(
    429,
    'The API key "{name}" may have at most {limit} calls open at once. Try again in a moment.',
    LIMIT,
  ),
  'too-many-streams': row(
    429,
    'The API key "{name}" may have at most {limit} event streams open at once. Try again in a moment.',
    LIMIT,
  ),
  'too-many-batches-of-key': row(
    429,
    'The API key "{name}" may have at most {limit} batches open at once. Wait for one to end, or cancel one.',
    LIMIT,
  ),

  // Executions.
  'key-reused': row(422, 'This Idempotency-Key was used for a call with another body.'),
  'unknown-execution': row(
    404,
    'There is no execution {mockId}, or it is too long ago (HISTORY_COUNT, HISTORY_SECONDS).',
  ),
  'execution-not-kept': row(
    410,
    'Execution {mockId} ended as "{state}". Its input and its answer are not kept: HISTORY_OFF names app {app}.',
  ),
  'execution-ended': row(409, 'Execution {mockId} has ended already; it cannot be cancelled any more.'),
  'execution-open': row(
    409,
    'Execution {mockId} is still on its way: nothing was erased. Cancel it, or wait for its end, and erase it then.',
  ),
  'execution-in-batch': row(
    409,
    'The batch of execution {mockId} is still running: nothing was erased. Cancel it, or wait for its end, and erase it then.',
  ),
  'execution-may-be-open': row(
    409,
    'Execution {mockId} may be open at a client, and this service has no record of it: nothing was erased. Erase it later.',
  ),
  'files-not-erased': row(
    503,
    'The files of execution {mockId} could not be erased, and nothing else was. Try again in a moment.',
    WORKER,
  ),
  'execution-of-newer-version': row(
    503,
    'Execution {mockId} is on its way, but this API is older than the one that took the call and cannot read it. Ask again in a moment.',
    STORE,
  ),
  'not-in-history': row(409, 'Execution {mockId} is not in the history yet: pin it once it has ended.'),
  'pins-full': row(409, 'At most {most} executions can be pinned, in at most half of HISTORY_BYTES. Unpin one first.'),
  'too-many-searches': row(503, 'Too many searches run in this API. Try again in a moment.', LIMIT),

  // Batches and cases.
  'unknown-batch': row(404, 'There is no batch {batchId}.'),
  'batch-gone': row(410, 'Batch {batchId} is not kept any more (BATCH_SECONDS, BATCH_BYTES).'),
  'batch-not-kept': row(410, 'The cases of batch {batchId} are not kept: HISTORY_OFF names app {app}.'),
  'unknown-item': row(404, 'Batch {batchId} has no item {n}.'),
  'batch-ended': row(409, 'Batch {batchId} has ended already; it cannot be cancelled any more.'),
  'too-many-batches': row(
    503,
    '{limit} batches are running already (MAX_BATCHES). Wait for one to end, or cancel one.',
    WORKER,
  ),
  'no-room-for-batch': row(503, 'There is no room for this batch beside those that are kept (BATCH_BYTES).', WORKER),
  'nobody-to-run-batch': row(503, 'No client of app {app} is online, so {target} stands for none.', WORKER),
  'bodies-full-now': row(
    503,
    'The bodies of all open calls take as much memory as they may (MAX_OPEN_BODY_BYTES). Try again in a moment, or start more APIs.',
    MEMORY,
  ),
  'no-saved-cases': row(404, 'No cases are saved for [rule {ruleId}][node {confId}] of app {app}.'),
  'cases-gone': row(412, 'No cases are saved any more. Nothing was changed.'),
  'cases-changed': row(412, 'The saved cases have changed since you read them. Nothing was changed: read them again.'),
  'cases-being-saved': row(
    503,
    'Another worker is saving these cases. Nothing was changed. Try again in a moment.',
    WORKER,
  ),
  'cases-unwritable': row(503, 'The cases cannot be saved in SHARED_DIR/.rule-server/cases: {why}.', WORKER),
  'cases-unreadable': row(503, 'The cases cannot be read in SHARED_DIR/.rule-server/cases: {why}.', WORKER),
  'cases-file-unusable': row(422, 'The file of the saved cases {problem}. An operator must remove it from SHARED_DIR.'),
  'cases-unusable': row(422, 'The saved cases cannot be used: {errors}'),
  'precondition-missing': row(
    428,
    'Say what you change: If-Match with the ETag you read, or If-None-Match: * when there are no saved cases yet.',
  ),

  // Rules.
  'unknown-rule': row(404, 'App {app} has no rule {ruleId}.'),
  'unknown-node': row(404, 'App {app} has no node {confId}.'),
  'node-not-in-rule': row(404, 'Rule {ruleId} of app {app} has no node {confId}.'),
  'unknown-version': row(
    404,
    'App {app} has no version {version} that can be read: it is not released yet, more than 100 versions ago, or a release since then has no update file.',
  ),
  'no-rules': row(404, 'App {app} has no readable rules.'),
  'tree-too-large': row(422, 'The tree has more nodes, levels or text than one answer may hold.'),
  'clients-linked': row(422, 'clients/{app} or mock/{app} is reached through a link, which is never followed.'),
  'too-many-rules': row(
    422,
    'App {app} has {rules} rules, and at most {most} are looked at in one answer: ask for each with ruleId.',
  ),
  'unusable-rule': row(422, 'In app {app} the file of [rule {ruleId}][node {confId}] {problem}.'),

  // The service.
  'process-stopping': row(503, 'This API process is stopping. Send it again: another process takes it.', STOPS),
  'store-away': row(503, 'The queue store {why}. Nothing was done. Try again in a moment.', STORE),
  'worker-could-not-answer': row(503, 'The worker could not answer; its log says why. Try again in a moment.', WORKER),
  'no-worker-answered': row(503, 'No worker answered within {timeoutMs} ms. Try again in a moment.', WORKER),
  'answer-lost': row(503, 'The answer could not be read back from the store. Try again in a moment.', WORKER),
  'answer-of-newer-version': row(
    503,
    'A worker of a newer version answered, in a form this API does not know. Try again in a moment.',
    WORKER,
  ),
  'question-of-newer-version': row(
    503,
    'No worker knows this question: the API is of a newer version. Replace the workers first, then the APIs.',
    WORKER,
  ),
  'directory-unusable': row(503, '{fault}.', WORKER),
  'internal-error': row(
    500,
    'Something went wrong inside the service[; its log has the details under request {requestId}].',
  ),
} as const satisfies Record<string, Row>;

export type RefusalCode = keyof typeof refusals;
export const isRefusalCode = (text: string): text is RefusalCode => Object.hasOwn(refusals, text);
