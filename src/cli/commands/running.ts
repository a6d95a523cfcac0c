import { anyForm } from '../../shared/contract/target.ts';
import { addSearchWords, FROM } from '../runs/search-words.ts';
import { exitCodesHelp } from '../terminal/exit-codes.ts';
import { addCalled, type Describing, DRY_RUN } from './describing.ts';

/** The commands that run rules, and show what they did. */
export function describeRunning(describing: Describing): void {
  describeExec(describing);
  describeHistory(describing);
  describeExplain(describing);
  describeSince(describing);
  describeSave(describing);
  describeWatch(describing);
  describeClients(describing);
}

const EXEC_HELP = `
Examples:
  rule-server exec --app 9001 --rule-id 1 --data '{"uid":1,"cost":120}'
  rule-server exec --app 9001 --rule-id 1 --data @input.json --target lane:beta
  jq .input case.json | rule-server exec --app 9001 --conf-id 4 --data - --json

On a terminal the states are shown as they are reached; Ctrl-C cancels the execution. No number changes its value:
9007199254740993 arrives as 9007199254740993.
${exitCodesHelp([0, 1, 2, 3, 4, 5, 6, 7, 8, 130], {
  0: 'the rule ran and succeeded',
  1: 'the rule ran and failed: its error is printed',
  3: 'no client or worker for it, or too much to do; nothing ran',
  4: 'not picked up, no answer, or the client left',
})}`;

function describeExec({ command, withApi }: Describing): void {
  const exec = command('exec', async () => (await import('../runs/exec.ts')).exec).description(
    'run a rule on a live client and print what it answered',
  );
  addCalled(exec)
    .option('--data <json>', 'the input: a JSON object, @file, or - for standard input', '{}')
    .option('--target <target>', anyForm(''), 'all')
    .option('--ts <ms>', 'run as of this time, epoch milliseconds')
    .option(...DRY_RUN)
    .option('--stub <json>', 'with --dry-run: what stands in the place of nodes, such as {"7":"TRUE"}')
    .option('--idempotency-key <key>', 'the same call under the same key runs once');
  withApi(exec, 'app').addHelpText('after', EXEC_HELP);
}

const HISTORY_HELP = `
Examples:
  rule-server history --app 9001 --where 'uid=42' --from 2026-11-22 --to 2026-11-23
  rule-server history --app 9001 --rule-id 1 --where 'cost>=100' --where 'cost<200' --outcome FALSE
  rule-server history --text 'card refused' --by ann --json | jq -r .mockId

Types are strict and numbers exact: uid=42 is the number, uid="42" the text. Standard error says how far a search came.
${exitCodesHelp([0, 2, 8, 130], { 0: 'the list is whole, also when it is empty' })}`;

function describeHistory({ command, withApi }: Describing): void {
  const history = command('history', async () => (await import('../runs/history.ts')).history);
  addSearchWords(history)
    .description('list and search earlier executions, the newest first')
    .option('--from <time>', FROM)
    .option('--to <time>', 'begun before this time')
    .option('--limit <count>', 'how many at most', '20');
  withApi(history).addHelpText('after', HISTORY_HELP);
}

const EXPLAIN_HELP = `
Example:
  rule-server explain 94de541c-6a1f-4d3c-9c7e-2f6d1c0b8a55

  rule-server explain run-94de541c.rule-run.json     of a saved run, without the service

Settings are named only where the rules that it ran on are known.
${exitCodesHelp([0, 1, 2, 3, 8], { 1: 'the file was changed after it was saved', 3: 'there is no such execution, or the key may not see it' })}`;

function describeExplain({ command, withApi }: Describing): void {
  const explain = command('explain', async () => (await import('../runs/explain.ts')).explainExecution)
    .description('tell why an execution came out as it did, by the rules it ran on')
    .argument('<mockId>', 'the execution, or the file of a saved one');
  withApi(explain).addHelpText('after', EXPLAIN_HELP);
}

const SINCE_HELP = `
Examples:
  rule-server since 94de541c-6a1f-4d3c-9c7e-2f6d1c0b8a55
  rule-server since 94de541c-6a1f-4d3c-9c7e-2f6d1c0b8a55 --release 30
  rule-server since 94de541c-6a1f-4d3c-9c7e-2f6d1c0b8a55 --leaves ./src/leaves.ts

Each earlier version is computed from the trace of the execution and the comparisons that its leaves declare; nothing runs. A leaf that a
version defines otherwise and that declares none is run without effects with --leaves, or with --clients on a client that holds the version,
if that comes to what the execution came to on the rules of the execution; else it ends in "cannot be told". Versions come from the update
files of the app, the last 100.
${exitCodesHelp([0, 2, 3, 8], { 3: 'the version cannot be determined, or there is no such execution or version' })}`;

function describeSince({ command, withApi }: Describing): void {
  const since = command('since', async () => (await import('../cases/since.ts')).since)
    .description('tell since which version of its rule an execution comes to what it came to')
    .argument('<mockId>', 'the execution')
    .option('--release <version>', 'what this version would have said instead')
    .option('--leaves <module>', 'where a version cannot be computed, run it here with these leaves, without effects')
    .option('--clients', 'where a version cannot be computed, run it without effects on a client that holds it');
  withApi(since).addHelpText('after', SINCE_HELP);
}

const SAVE_HELP = `
Example:
  rule-server run save 94de541c-6a1f-4d3c-9c7e-2f6d1c0b8a55
  rule-server explain run-94de541c.rule-run.json

What MASK hides is hidden in the file. Its digest tells whether somebody changed it, not who wrote it.
${exitCodesHelp([0, 1, 2, 3, 8], { 1: 'the file is there already', 3: 'there is no such execution, or the key may not see it' })}`;

function describeSave({ program, command, withApi }: Describing): void {
  const run = program.command('run').description('keep an execution as a file');
  const save = command('save', async () => (await import('../runs/run-file.ts')).saveRun, run)
    .description('write an execution, with its input, its answer and the tree of its rules, into a file')
    .argument('<mockId>', 'the execution')
    .option('--out <file>', 'the file; otherwise run-<id>.rule-run.json')
    .option('--force', 'also over a file that is there');
  withApi(save).addHelpText('after', SAVE_HELP);
}

const WATCH_HELP = `
Examples:
  rule-server watch --app 9001
  rule-server watch --app 9001 --where 'uid=42'
  rule-server watch --failures               shop-1: card <number> was refused  212 times since 09:14:03
  rule-server watch --json | jq -r 'select(.state == "failed") | .mockId'

One line for each new execution and each new state of one, within a second. Items of batches are left out.
${exitCodesHelp([0, 2, 8, 130], { 0: 'nobody reads its output any more' })}`;

function describeWatch({ command, withApi }: Describing): void {
  const watch = command('watch', async () => (await import('../runs/watch.ts')).watch)
    .description('print executions as they come and go on, until Ctrl-C')
    .option('--failures', 'only those that failed, counted where they are alike');
  withApi(addSearchWords(watch)).addHelpText('after', WATCH_HELP);
}

const CLIENTS_HELP = `
Examples:
  rule-server clients --app 9001
  rule-server clients --app 9001 --json | jq -r '.items[].address'

A client whose heartbeat is older than CLIENT_TIMEOUT_MS (30 s) is offline. The ADDRESS is what exec takes as
--target address:<address>.
${exitCodesHelp([0, 2, 3, 8], { 0: 'a client is online', 3: 'no client is online' })}`;

function describeClients({ command, withApi }: Describing): void {
  const clients = command('clients', async () => (await import('../clients.ts')).clients)
    .description('list the clients of an app; ends with 3 when none is online')
    .option('--app <id>', 'the app');
  withApi(clients, 'app').addHelpText('after', CLIENTS_HELP);
}
