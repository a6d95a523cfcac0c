import { Argument, type Command, Option } from 'commander';
import { anyForm } from '../shared/contract/target.ts';
import type { CheckOptions } from './cases/check.ts';
import { describeCases } from './cases/commands.ts';
import type { ReplayOptions } from './cases/replay.ts';
import type { ReportOptions } from './cases/report.ts';
import type { SinceOptions } from './cases/since.ts';
import type { ClientsOptions } from './clients.ts';
import type { CheckClientOptions } from './doctor/check-client.ts';
import type { DoctorOptions } from './doctor/doctor.ts';
import type { SchemaName } from './file-schemas.ts';
import {
  BACKUP_EXAMPLES,
  CHECK_CLIENT_EXAMPLES,
  CHECK_HELP,
  CLIENTS_EXAMPLES,
  COMPLETION_EXAMPLES,
  DOCTOR_EXAMPLES,
  ERASE_EXAMPLES,
  EXEC_EXAMPLES,
  EXPLAIN_EXAMPLES,
  FORGET_DIRECTORY_EXAMPLES,
  HISTORY_EXAMPLES,
  LAYOUT_EXAMPLES,
  MCP_EXAMPLES,
  REPLAY_EXAMPLES,
  REPORT_HELP,
  SAVE_RUN_EXAMPLES,
  SCHEMA_EXAMPLES,
  SINCE_EXAMPLES,
  WATCH_EXAMPLES,
} from './help-texts.ts';
import type { McpOptions } from './mcp/serve-mcp.ts';
import { needsOptions } from './needs-options.ts';
import type { BackupOptions } from './operating/backup.ts';
import { describeKeys } from './operating/key-commands.ts';
import type { LayoutOptions } from './operating/layout.ts';
import type { EraseOptions } from './runs/erase.ts';
import type { ExecOptions } from './runs/exec.ts';
import type { ExplainOptions } from './runs/explain.ts';
import type { HistoryOptions } from './runs/history.ts';
import type { SaveRunOptions } from './runs/run-file.ts';
import { addRecorded, addRecordedSearch, addSearchWords, FROM } from './runs/search-words.ts';
import type { WatchOptions } from './runs/watch.ts';
import type { Surroundings } from './terminal/surroundings.ts';

type Ended = (code: number) => void;
type Describing = {
  program: Command;
  surroundings: Surroundings;
  ended: Ended;
  withApi: (command: Command) => Command;
  withUrl: (command: Command) => Command;
};

/** The commands besides the services, in the order of the help. Each loads only what it needs. */
export function describeCommands(program: Command, surroundings: Surroundings, ended: Ended): void {
  const withUrl = (command: Command) => addUrl(command, surroundings.environment);
  const withApi = (command: Command) => withUrl(command).option('--json', 'print the answer as it is, for programs');
  const describing = { program, surroundings, ended, withApi, withUrl };
  program.commandsGroup('Run rules, and see what they did:');
  describeExec(describing);
  describeHistory(describing);
  describeExplain(describing);
  describeWatch(describing);
  describeClients(describing);
  program.commandsGroup('Test rules before a release:');
  describeCases(program, describing);
  describeReplay(describing);
  describeCheck(describing);
  describeReport(describing);
  describeSchema(describing);
  program.commandsGroup('Operate the service:');
  describeDoctor(describing);
  describeCheckClient(describing);
  describeErase(describing);
  describeKeys(program, surroundings, ended);
  describeBackup(describing);
  describeForgetDirectory(describing);
  describeLayout(describing);
  program.commandsGroup('Connect:');
  describeMcp(describing);
  describeCompletion(describing);
}

/** Options of every command that calls an API. */
function addUrl(command: Command, { RULE_SERVER_URL, RULE_SERVER_KEY }: NodeJS.ProcessEnv): Command {
  const key = new Option('--key <key>', 'an API key; as RULE_SERVER_KEY it stays out of process lists');
  return command
    .option(
      '--url <url>',
      'where the API is; RULE_SERVER_URL says so as well',
      RULE_SERVER_URL ?? 'http://127.0.0.1:8080',
    )
    .addOption(key.default(RULE_SERVER_KEY, 'RULE_SERVER_KEY'));
}

function describeExec({ program, surroundings, ended, withApi }: Describing): void {
  const exec = program
    .command('exec')
    .description('run a rule on a live client and print what it answered')
    .option('--app <id>', 'the app')
    .option('--rule-id <id>', 'the rule')
    .option('--conf-id <id>', 'a node: run the sub-tree below it; with --rule-id as a part of that rule')
    .option('--data <json>', 'the input: a JSON object, @file, or - for standard input', '{}')
    .option('--target <target>', anyForm(''), 'all')
    .option('--ts <ms>', 'run as of this time, epoch milliseconds')
    .option('--dry-run', 'without effects: a leaf that has some is not called, and counts as TRUE')
    .option('--stub <json>', 'with --dry-run: what stands in the place of nodes, such as {"7":"TRUE"}')
    .option('--idempotency-key <key>', 'the same call under the same key runs once')
    .action(async (options: ExecOptions) => ended(await (await import('./runs/exec.ts')).exec(options, surroundings)));
  needsOptions(exec, 'app');
  withApi(exec).addHelpText('after', EXEC_EXAMPLES);
}

function describeClients({ program, surroundings, ended, withApi }: Describing): void {
  const clients = program
    .command('clients')
    .description('list the clients of an app; ends with 3 when nobody is there')
    .option('--app <id>', 'the app')
    .action(async (options: ClientsOptions) =>
      ended(await (await import('./clients.ts')).clients(options, surroundings)),
    );
  needsOptions(clients, 'app');
  withApi(clients).addHelpText('after', CLIENTS_EXAMPLES);
}

function describeErase({ program, surroundings, ended, withApi }: Describing): void {
  const erase = program
    .command('erase')
    .description('remove every trace of one execution that has ended; needs the permission ops')
    .argument('<mockId>', 'the execution')
    .action(async (mockId: string, options: EraseOptions) =>
      ended(await (await import('./runs/erase.ts')).erase(mockId, options, surroundings)),
    );
  withApi(erase).addHelpText('after', ERASE_EXAMPLES);
}

function describeBackup({ program, surroundings, ended }: Describing): void {
  program
    .command('backup')
    .description('copy the store of "rule-server all" without Redis, while the service works on')
    .argument('<file>', 'where the copy goes; it must not be there yet')
    .option('--shared-dir <folder>', 'the SHARED_DIR of the service, if not that of this environment')
    .addHelpText('after', BACKUP_EXAMPLES)
    .action(async (file: string, options: BackupOptions) =>
      ended(await (await import('./operating/backup.ts')).backup(file, options, surroundings)),
    );
}

function describeForgetDirectory({ program, surroundings, ended }: Describing): void {
  program
    .command('forget-directory')
    .description('let the workers of a queue use another SHARED_DIR, once all of them are stopped')
    .addHelpText('after', FORGET_DIRECTORY_EXAMPLES)
    .action(async () => ended(await (await import('./operating/forget-directory.ts')).forgetDirectory(surroundings)));
}

function describeLayout({ program, surroundings, ended }: Describing): void {
  const layout = program
    .command('layout')
    .description(
      'give the directories of an app to a group of its own, so that clients of other apps cannot reach them',
    )
    .option('--app <id>', 'the app')
    .option('--group <group>', 'the group of its clients, by name or number')
    .option('--worker <user>', 'the user of the workers, by name or number; if not given, the owner of SHARED_DIR')
    .option('--shared-dir <folder>', 'the SHARED_DIR of the service, if not that of this environment')
    .addHelpText('after', LAYOUT_EXAMPLES)
    .action(async (options: LayoutOptions) =>
      ended(await (await import('./operating/layout.ts')).layout(options, surroundings)),
    );
  needsOptions(layout, 'app', 'group');
}

function describeDoctor({ program, surroundings, ended, withApi }: Describing): void {
  const doctor = program
    .command('doctor')
    .description('check Redis, the shared directory, limits, clocks and workers, with the settings of this environment')
    .action(async (options: DoctorOptions) =>
      ended(await (await import('./doctor/doctor.ts')).doctor(options, surroundings)),
    );
  withApi(doctor).addHelpText('after', DOCTOR_EXAMPLES);
}

function describeCheckClient({ program, surroundings, ended }: Describing): void {
  program
    .command('check-client')
    .description('play the hard cases to a client of your own, in its directory: real runs of its rules')
    .argument('<directory>', 'what the client serves: mock/{app}/{address}')
    .option('--rule-id <id>', 'the rule that is asked for: 1, unless a node is')
    .option('--conf-id <id>', 'a node')
    .option('--data <json>', 'the input of every request, besides the member that is checked', '{}')
    .option('--within <seconds>', 'how long an answer may take', '15')
    .option('--json', 'print the findings as they are, for programs')
    .addHelpText('after', CHECK_CLIENT_EXAMPLES)
    .action(async (directory: string, options: CheckClientOptions) =>
      ended(await (await import('./doctor/check-client.ts')).checkClient(directory, options, surroundings)),
    );
}

function describeWatch({ program, surroundings, ended, withApi }: Describing): void {
  const watch = program
    .command('watch')
    .description('print executions as they come and go on, until Ctrl-C')
    .option('--failures', 'only those that failed, counted where they are alike')
    .action(async (options: WatchOptions) =>
      ended(await (await import('./runs/watch.ts')).watch(options, surroundings)),
    );
  withApi(addSearchWords(watch)).addHelpText('after', WATCH_EXAMPLES);
}

function describeReplay({ program, surroundings, ended, withApi }: Describing): void {
  const replay = program
    .command('replay')
    .description('run the inputs of earlier executions again without effects, and tell what would change')
    .option('--target <target>', anyForm(''), 'all')
    .option(
      '--ts <time>',
      'run all as of this time, epoch ms, or now; if not given, each as of the time that it ran as of',
    )
    .option('--real', 'with all effects')
    .option('--yes', 'more than 100 real runs are meant')
    .option('--junit <file>', 'write a JUnit report')
    .option('--csv <file>', 'write the runs as CSV')
    .action(async (options: ReplayOptions) =>
      ended(await (await import('./cases/replay.ts')).replay(options, surroundings)),
    );
  addRecordedSearch(replay);
  needsOptions(replay, 'app', 'ruleId');
  withApi(replay).addHelpText('after', REPLAY_EXAMPLES);
}

function describeCheck({ program, surroundings, ended, withApi }: Describing): void {
  const check = program
    .command('check')
    .description('tell whether rules can be released: by their trees, and by how their saved cases last ran')
    .option('--app <id>', 'the app')
    .option('--rule-id <id>', 'only this rule')
    .option('--target <target>', anyForm(''), 'all')
    .option('--junit <file>', 'write a JUnit report')
    .action(async (options: CheckOptions) =>
      ended(await (await import('./cases/check.ts')).check(options, surroundings)),
    );
  needsOptions(check, 'app');
  withApi(check).addHelpText('after', CHECK_HELP);
}

function describeReport({ program, surroundings, ended, withUrl }: Describing): void {
  const report = program
    .command('report')
    .description('tell in Markdown what a release would change, and whether it can ship, for a pull request')
    .option('--app <id>', 'the app')
    .option('--rule-id <id>', 'only this rule')
    .option('--target <target>', anyForm(''), 'all')
    .option('--out <file>', 'write it into a file')
    .option('--comment', 'in a workflow on GitHub: write it beside the pull request, in the place of the last one')
    .option('--counts', 'without values of inputs and data, for readers that may not see them');
  addRecorded(report).action(async (options: ReportOptions) =>
    ended(await (await import('./cases/report.ts')).report(options, surroundings)),
  );
  needsOptions(report, 'app');
  withUrl(report).addHelpText('after', REPORT_HELP);
}

function describeExplain({ program, surroundings, ended, withApi }: Describing): void {
  const explain = program
    .command('explain')
    .description('tell why an execution came out as it did, by the rules it ran on')
    .argument('<mockId>', 'the execution, or the file of a saved one')
    .action(async (mockId: string, options: ExplainOptions) =>
      ended(await (await import('./runs/explain.ts')).explainExecution(mockId, options, surroundings)),
    );
  withApi(explain).addHelpText('after', EXPLAIN_EXAMPLES);
  const since = program
    .command('since')
    .description('tell since which version of its rule an execution comes to what it came to')
    .argument('<mockId>', 'the execution')
    .option('--release <version>', 'what this version would have said instead')
    .option('--leaves <module>', 'where a version cannot be computed, run it here with these leaves, without effects')
    .option('--clients', 'where a version cannot be computed, run it without effects on a client that holds it')
    .action(async (mockId: string, options: SinceOptions) =>
      ended(await (await import('./cases/since.ts')).since(mockId, options, surroundings)),
    );
  withApi(since).addHelpText('after', SINCE_EXAMPLES);
  const save = program
    .command('run')
    .description('keep an execution as a file')
    .command('save')
    .description('write an execution, with its input, its answer and the tree of its rules, into a file')
    .argument('<mockId>', 'the execution')
    .option('--out <file>', 'the file; otherwise run-<id>.rule-run.json')
    .option('--force', 'also over a file that is there')
    .action(async (mockId: string, options: SaveRunOptions) =>
      ended(await (await import('./runs/run-file.ts')).saveRun(mockId, options, surroundings)),
    );
  withApi(save).addHelpText('after', SAVE_RUN_EXAMPLES);
}

function describeHistory({ program, surroundings, ended, withApi }: Describing): void {
  const history = program
    .command('history')
    .description('list and search earlier executions, the newest first')
    .action(async (options: HistoryOptions) =>
      ended(await (await import('./runs/history.ts')).history(options, surroundings)),
    );
  addSearchWords(history)
    .option('--from <time>', FROM)
    .option('--to <time>', 'begun before this time')
    .option('--limit <count>', 'how many at most', '20');
  withApi(history).addHelpText('after', HISTORY_EXAMPLES);
}

function describeMcp({ program, surroundings, ended, withUrl }: Describing): void {
  const mcp = program
    .command('mcp')
    .description('serve the Model Context Protocol on standard input and output, for an assistant')
    .option('--allow-run', 'let the assistant run rules: real runs with real effects')
    .action(async (options: McpOptions) => {
      const { addCommandTools } = await import('./cases/mcp-tools.ts');
      ended(await (await import('./mcp/serve-mcp.ts')).serveMcp(options, surroundings, addCommandTools));
    });
  withUrl(mcp).addHelpText('after', MCP_EXAMPLES);
}

function describeSchema({ program, surroundings }: Describing): void {
  program
    .command('schema')
    .description('print the JSON Schema of a rule file, of a file between workers and clients, or of a saved run')
    .addArgument(new Argument('<file>', 'which file').choices(['rule', 'node', 'update', 'request', 'answer', 'run']))
    .addHelpText('after', SCHEMA_EXAMPLES)
    .action(
      async (file: SchemaName) => void surroundings.stdout.write((await import('./file-schemas.ts')).schemaOf(file)),
    );
}

function describeCompletion({ program, surroundings }: Describing): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash']))
    .addHelpText('after', COMPLETION_EXAMPLES)
    .action(async () => void surroundings.stdout.write((await import('./completion.ts')).bashCompletion(program)));
}
