import { exitCodesHelp } from './terminal/exit-codes.ts';

/** The beginning of `rule-server --help`. */
export const INTRODUCTION = `Runs business rules on the clients that live with them, and shows what they do.

Services take their settings from the environment (see docs/run/settings.md). The other commands talk to a running API.

An API serves the documents that are named here: http://127.0.0.1:8080/docs/run/settings.md.`;

/** Examples, as each command's --help shows them after its options. */
export const EXEC_EXAMPLES = `
Examples:
  rule-server exec --app 9001 --rule-id 1 --data '{"uid":1,"cost":120}'
  rule-server exec --app 9001 --rule-id 1 --data @input.json --target lane:beta
  jq .input case.json | rule-server exec --app 9001 --conf-id 42 --data - --json

On a terminal the states are shown as they are reached; Ctrl-C cancels the execution. No number changes its value:
9007199254740993 arrives as 9007199254740993.
${exitCodesHelp([0, 1, 2, 3, 4, 5, 6, 7, 8, 130], {
  0: 'the rule ran and succeeded',
  1: 'the rule ran and failed: its error is printed',
  3: 'no client or worker for it, or too much to do; nothing ran',
  4: 'not picked up, no answer, or the client left',
})}`;

export const CLIENTS_EXAMPLES = `
Examples:
  rule-server clients --app 9001
  rule-server clients --app 9001 --json | jq -r '.items[].address'

A client whose heartbeat is older than CLIENT_TIMEOUT_MS (30 s) is offline. The ADDRESS is what exec takes as
--target address:<address>.
${exitCodesHelp([0, 2, 3, 8], { 0: 'a client is there', 3: 'no client is there' })}`;

export const COMPLETION_EXAMPLES = `
Example:
  rule-server completion bash > /etc/bash_completion.d/rule-server
${exitCodesHelp([0, 2])}`;

export const ERASE_EXAMPLES = `
Its record with input and results, its job, the record and the answer of its Idempotency-Key, its item of a batch and its files
go. The same call under that key would run again, 20 to 40 minutes later.

Example:
  rule-server erase 94de541c-6a1f-4d3c-9c7e-2f6d1c0b8a55
${exitCodesHelp([0, 2, 3, 8], {
  0: 'every trace is gone',
  3: 'there is none, or it has not ended: nothing was erased',
})}`;

export const BACKUP_EXAMPLES = `
Examples:
  rule-server backup /var/backups/rule-server-$(date +%F).db
  rule-server backup --shared-dir /data ./store.db

Run it on the machine of the service, as its user. The service works on meanwhile. Once a copy is put back, what had not ended when it was
made, its keys included, is outcome-unknown and does not run again.
${exitCodesHelp([0, 2, 3, 8], {
  0: 'the copy is whole',
  3: 'nothing was copied: the file is there already, or cannot be written',
  8: 'there is no store of a "rule-server all" without Redis',
})}`;

export const FORGET_DIRECTORY_EXAMPLES = `
Examples:
  REDIS_URL=redis://redis:6379 rule-server forget-directory

All workers of a queue use one SHARED_DIR, and Redis remembers which. To move it, stop the workers, copy all of it (.rule-server too) and start
them on the copy: that needs no command. This one is for a directory that is lost. What it knew of open executions is lost with it.
Without Redis a start on another directory is enough.
${exitCodesHelp([0, 1, 2, 8], {
  0: 'the next worker that starts registers its own SHARED_DIR',
  1: 'a worker still runs, or an execution could begin again',
  8: 'Redis does not answer',
})}`;

export const LAYOUT_EXAMPLES = `
Examples:
  groupadd rules-7
  rule-server layout --app 7 --group rules-7 --worker rule-server --shared-dir /srv/rule-data

SHARED_DIR, mock and clients become writable for the workers' user alone (0755), so run this for each app. mock/7 and clients/7 become
writable and readable for that user and the group (2770). Clients in one group can do everything to each other.
${exitCodesHelp([0, 1, 2], {
  0: 'the directories are as said',
  1: 'something may not be changed by this user, or a link is in the way',
})}`;

export const CHECK_CLIENT_EXAMPLES = `
Examples:
  rule-server check-client /data/mock/7/orders-1
  rule-server check-client /data/mock/7/orders-1 --rule-id 12 --data '{"age":20}'

It plays the part of a worker: no service is needed, and one that runs is not in the way. docs/use/clients.md says what a client has to do.
${exitCodesHelp([0, 1, 2], { 0: 'every case passed; a warning is not a failure', 1: 'a case failed, or nobody answered' })}`;

export const DOCTOR_EXAMPLES = `
Examples:
  REDIS_URL=redis://redis:6379 SHARED_DIR=/data rule-server doctor
  docker compose exec worker node bin/rule-server.js doctor --url http://api:8080

Run it where a process runs, as its user and with its settings. With REDIS_URL and without
SHARED_DIR these are an API's: then the shared directory is not looked at.
${exitCodesHelp([0, 1, 2], { 0: 'nothing failed; a warning is not a failure', 1: 'something failed' })}`;

export const KEYS_NEW_EXAMPLES = `
Examples:
  rule-server keys new --name reports --may read --apps 1,9001 --expires 2027-06-30
  rule-server keys new --name console >> keys.yaml       the key itself goes to standard error

The key is shown once and kept nowhere: the keys file (API_KEYS_FILE) has its digest.
${exitCodesHelp([0, 1, 2], { 1: 'what was given makes no usable key' })}`;

export const KEYS_CHECK_EXAMPLES = `
Examples:
  rule-server keys check keys.yaml
  API_KEYS_FILE=keys.yaml rule-server keys check

With RULE_SERVER_KEY set it also tells which entry that key is.
${exitCodesHelp([0, 1, 2], { 0: 'the file can be used', 1: 'it cannot' })}`;

export const HISTORY_EXAMPLES = `
Examples:
  rule-server history --app 9001 --where 'uid=42' --from 2026-11-22 --to 2026-11-23
  rule-server history --app 9001 --rule-id 1 --where 'cost>=100' --where 'cost<200' --outcome FALSE
  rule-server history --text 'card refused' --by ann --json | jq -r .mockId

Types are strict and numbers exact: uid=42 is the number, uid="42" the text. Standard error says how far a search came.
${exitCodesHelp([0, 2, 8, 130], { 0: 'the list is whole, also when it is empty' })}`;

export const CHECK_HELP = `
Examples:
  rule-server check --app 9001 --target lane:beta
  rule-server check --app 9001 --rule-id 1 --target lane:beta --junit out.xml

A rule can ship when its saved cases passed in their last batch on this target, on the rules that are released now, and nothing in its tree
stops it. Nothing runs: "rule-server test --saved" runs the cases.
${exitCodesHelp([0, 1, 2, 3, 4, 8], {
  0: 'every rule can ship',
  1: 'a rule cannot ship',
  3: 'there is no such rule',
  4: 'none is known not to, and a rule is not tested',
})}`;

export const REPLAY_EXAMPLES = `
Examples:
  rule-server replay --app 9001 --rule-id 1 --target lane:beta
  rule-server replay --app 9001 --rule-id 1 --target lane:beta --where 'city="Berlin"' --from 2026-11-23 --limit 2000 --junit out.xml --csv out.csv

Outcomes, errors, consequences and the data that changed are compared, and grouped by what changed and the first node that differs. A consequence is
not called in a run without effects: what follows from it is not checked. Runs with hidden fields, without their whole input, or without an answer
are left out and counted. A leaf that reads the clock itself reads the time of now.
${exitCodesHelp([0, 1, 2, 3, 4, 8, 130], { 0: 'every run came to the same', 1: 'a run would change', 4: 'none is known to change, and some could not be compared' })}`;

export const REPORT_HELP = `
Examples:
  rule-server report --app 9001 --target lane:beta --from -24h --out report.md
  rule-server report --app 9001 --rule-id 1 --target lane:beta --from 2026-11-23 --limit 2000 --counts

Recorded runs of each rule are made again without effects, as "rule-server replay" does. How the saved cases last ran, and whether the rule can ship,
is what "rule-server check" tells: run "rule-server test --saved" before. The text is also appended to the file that GITHUB_STEP_SUMMARY names. Its first line
is a marker: --comment (with GITHUB_TOKEN), or any action that does so, finds the comment that has it and replaces it. What MASK hides stays hidden. The report decides nothing: "check" does.
${exitCodesHelp([0, 1, 2, 3, 4, 8, 130], { 0: 'the report is written', 1: 'the comment cannot be written', 4: 'it is written, and some runs could not be made again' })}`;

export const SCHEMA_EXAMPLES = `
Example:
  rule-server schema node > node.schema.json        an editor then checks confs/*.json
  rule-server schema answer                         what a client writes, docs/use/clients.md
${exitCodesHelp([0, 2])}`;

export const EXPLAIN_EXAMPLES = `
Example:
  rule-server explain 94de541c-6a1f-4d3c-9c7e-2f6d1c0b8a55

  rule-server explain run-94de541c.rule-run.json     of a saved run, without the service

Where it is not known on which rules it ran, no settings are named.
${exitCodesHelp([0, 1, 2, 3, 8], { 1: 'the file was changed after it was saved', 3: 'there is no such execution, or the key may not see it' })}`;

export const SAVE_RUN_EXAMPLES = `
Example:
  rule-server run save 94de541c-6a1f-4d3c-9c7e-2f6d1c0b8a55
  rule-server explain run-94de541c.rule-run.json

What MASK hides is hidden in the file. Its digest tells whether somebody changed it, not who wrote it.
${exitCodesHelp([0, 1, 2, 3, 8], { 1: 'the file is there already', 3: 'there is no such execution, or the key may not see it' })}`;

export const SINCE_EXAMPLES = `
Examples:
  rule-server since 94de541c-6a1f-4d3c-9c7e-2f6d1c0b8a55
  rule-server since 94de541c-6a1f-4d3c-9c7e-2f6d1c0b8a55 --release 30
  rule-server since 94de541c-6a1f-4d3c-9c7e-2f6d1c0b8a55 --leaves ./src/leaves.ts

Each earlier version is computed from the trace of the execution and the comparisons that its leaves declare; nothing runs. A leaf that a
version defines otherwise and that declares none is run without effects with --leaves, or with --clients on a client that holds the version,
if that comes to what the execution came to on the rules of the execution; else it ends in "cannot be told". Versions come from the update
files of the app, the last 100.
${exitCodesHelp([0, 2, 3, 8], { 3: 'it cannot be told, or there is no such execution or version' })}`;

export const WATCH_EXAMPLES = `
Examples:
  rule-server watch --app 9001
  rule-server watch --app 9001 --where 'uid=42'
  rule-server watch --failures               shop-1: card <number> was refused  212 times since 09:14:03
  rule-server watch --json | jq -r 'select(.state == "failed") | .mockId'

One line for each execution that is new or has gone on, within a second. Items of batches are not among them.
${exitCodesHelp([0, 2, 8, 130], { 0: 'nobody reads its output any more' })}`;

export const MCP_EXAMPLES = `
Example, as an assistant's configuration:
  { "command": "npx", "args": ["--no-install", "rule-server", "mcp", "--url", "https://rules.example.com"],
    "env": { "RULE_SERVER_KEY": "…" } }

Tools: list_rules, describe_inputs, find_runs, explain_run, check and since; with --allow-run also run_rule, and replay, test and report, which
have no effects. They can do what the key may do, nothing more. It ends with its standard input.
${exitCodesHelp([0, 2], { 0: 'its standard input has ended' })}`;

const SERVICE_EXIT_CODES = exitCodesHelp([0, 1], {
  0: 'it was stopped, and let go of everything',
  1: 'it could not start and said why, or a second signal cut it off',
});

/** The --help of a service: it has settings in the place of options. */
export const SERVICE_HELP = {
  all: `
Settings that matter most, all from the environment:
  SHARED_DIR  what clients and workers share (none: ./rule-data, with a demo client and its rules)
  PORT        where it listens (8080)
  REDIS_URL   none: the queue lives in this process

Example:
  PORT=8081 rule-server all
${SERVICE_EXIT_CODES}`,
  api: `
Settings that matter most, all from the environment (no SHARED_DIR: only workers have one):
  REDIS_URL   the queue (redis://127.0.0.1:6379)
  HOST, PORT  where it listens (127.0.0.1, 8080)
  API_KEYS    name:key,…; or API_KEYS_FILE, see "rule-server keys --help"
  ALLOW_ANONYMOUS=1  to listen to the network without keys, which otherwise stops the start

Example:
  REDIS_URL=redis://redis:6379 HOST=0.0.0.0 API_KEYS=me:$KEY rule-server api
${SERVICE_EXIT_CODES}`,
  worker: `
Settings that matter most, all from the environment:
  REDIS_URL    the queue (redis://127.0.0.1:6379)
  SHARED_DIR   the directory the clients share; must exist
  WORKER_PORT  /readyz and /metrics (0: off)

Example:
  REDIS_URL=redis://redis:6379 SHARED_DIR=/data WORKER_PORT=9090 rule-server worker
${SERVICE_EXIT_CODES}`,
  'demo-client': `
Settings, all from the environment:
  SHARED_DIR  what it shares with the workers (./rule-data)

Example:
  SHARED_DIR=/data rule-server demo-client
${SERVICE_EXIT_CODES}`,
};
