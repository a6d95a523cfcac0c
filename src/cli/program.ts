import { Command, CommanderError, Option } from 'commander';
import { visibleLines } from '../shared/contract/visible-text.ts';
import { version } from '../version.ts';
import { describeCases } from './cases/commands.ts';
import type { ClientsOptions } from './clients.ts';
import type { DoctorOptions } from './doctor/doctor.ts';
import type { EraseOptions } from './erase.ts';
import type { ExecOptions } from './exec.ts';
import { EXIT_CODES_HELP, exitCodes } from './exit-codes.ts';
import {
  CLIENTS_EXAMPLES,
  DOCTOR_EXAMPLES,
  ERASE_EXAMPLES,
  EXEC_EXAMPLES,
  INTRODUCTION,
  KEYS_CHECK_EXAMPLES,
  KEYS_NEW_EXAMPLES,
  MCP_EXAMPLES,
  SERVICE_HELP,
  WATCH_EXAMPLES,
} from './help-texts.ts';
import type { CheckKeysOptions, NewKeyOptions } from './keys.ts';
import type { McpOptions } from './mcp/serve-mcp.ts';
import { CommandFailed, type Surroundings } from './surroundings.ts';
import type { WatchOptions } from './watch.ts';

/** Runs one command line and resolves to its exit code. */
export async function runCommand(parameters: string[], surroundings: Surroundings): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const program = describe(surroundings, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(parameters, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has printed what was wrong, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (!(error instanceof CommandFailed)) throw error;
    surroundings.stderr.write(`${visibleLines(error.message)}\n`);
    return error.exitCode;
  }
}

function describe(surroundings: Surroundings, ended: (code: number) => void): Command {
  const { environment, stdout, stderr } = surroundings;
  const program = new Command('rule-server')
    .description(INTRODUCTION)
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .showHelpAfterError('(rule-server --help tells more)');

  describeServices(program);
  const exec = program
    .command('exec')
    .description('run a rule on a live client and print what it answered')
    .requiredOption('--app <id>', 'the app')
    .option('--rule <id>', 'the rule')
    .option('--node <id>', 'a node: run the sub-tree below it; with --rule as a part of that rule')
    .option('--data <json>', 'the input: a JSON object, @file, or - for standard input', '{}')
    .option('--target <target>', 'all, lane:<lane> or address:<address>', 'all')
    .option('--ts <ms>', 'run as of this time, epoch milliseconds')
    .option('--idempotency-key <key>', 'the same call under the same key runs once')
    .action(async (options: ExecOptions) => ended(await (await import('./exec.ts')).exec(options, surroundings)));
  withApi(exec, environment).addHelpText('after', EXEC_EXAMPLES + EXIT_CODES_HELP);

  const clients = program
    .command('clients')
    .description('list the clients of an app; ends with 3 when nobody is there')
    .requiredOption('--app <id>', 'the app')
    .action(async (options: ClientsOptions) =>
      ended(await (await import('./clients.ts')).clients(options, surroundings)),
    );
  withApi(clients, environment).addHelpText('after', CLIENTS_EXAMPLES);

  describeCases(program, { surroundings, ended, withApi: (command) => withApi(command, environment) });

  const erase = program
    .command('erase')
    .description('remove every trace of one execution that has ended; needs the permission ops')
    .argument('<mockId>', 'the execution')
    .action(async (mockId: string, options: EraseOptions) =>
      ended(await (await import('./erase.ts')).erase(mockId, options, surroundings)),
    );
  withApi(erase, environment).addHelpText('after', ERASE_EXAMPLES);

  const doctor = program
    .command('doctor')
    .description('check Redis, the shared directory, limits, clocks and workers, with the settings of this environment')
    .action(async (options: DoctorOptions) =>
      ended(await (await import('./doctor/doctor.ts')).doctor(options, surroundings)),
    );
  withApi(doctor, environment).addHelpText('after', DOCTOR_EXAMPLES);
  describeKeys(program, surroundings, ended);
  withApi(describeWatch(program, surroundings, ended), environment).addHelpText('after', WATCH_EXAMPLES);
  withUrl(describeMcp(program, surroundings, ended), environment).addHelpText('after', MCP_EXAMPLES);
  return program;
}

/** Options of every command that calls an API. */
function withUrl(command: Command, { RULE_SERVER_URL, RULE_SERVER_KEY }: NodeJS.ProcessEnv): Command {
  const key = new Option('--key <key>', 'an API key; as RULE_SERVER_KEY it stays out of process lists');
  return command
    .option(
      '--url <url>',
      'where the API is; RULE_SERVER_URL says so as well',
      RULE_SERVER_URL ?? 'http://127.0.0.1:8080',
    )
    .addOption(key.default(RULE_SERVER_KEY, 'RULE_SERVER_KEY'));
}

function withApi(command: Command, environment: NodeJS.ProcessEnv): Command {
  return withUrl(command, environment).option('--json', 'print the answer as it is, for programs');
}

function describeServices(program: Command): void {
  const service = (name: keyof typeof SERVICE_HELP, description: string) =>
    program.command(name).description(description).addHelpText('after', SERVICE_HELP[name]);
  service('all', 'start API, worker and, without SHARED_DIR, a demo client in one process').alias('start');
  service('api', 'start the HTTP side; needs REDIS_URL, never SHARED_DIR');
  service('worker', 'start the side that writes and watches files; needs REDIS_URL and SHARED_DIR');
  service('demo-client', 'start the demo client (app 9001) in SHARED_DIR');
}

type Ended = (code: number) => void;

function describeWatch(program: Command, surroundings: Surroundings, ended: Ended): Command {
  return program
    .command('watch')
    .description('print executions as they come and go on, until Ctrl-C')
    .option('--app <id>', 'only of this app')
    .option('--rule <id>', 'only of this rule')
    .action(async (options: WatchOptions) => ended(await (await import('./watch.ts')).watch(options, surroundings)));
}

function describeMcp(program: Command, surroundings: Surroundings, ended: Ended): Command {
  return program
    .command('mcp')
    .description('serve the Model Context Protocol on standard input and output, for an assistant')
    .option('--allow-run', 'let the assistant run rules: real runs with real effects')
    .action(async (options: McpOptions) =>
      ended(await (await import('./mcp/serve-mcp.ts')).serveMcp(options, surroundings)),
    );
}

function describeKeys(program: Command, surroundings: Surroundings, ended: Ended): void {
  const keys = program.command('keys').description('make a key, or check a keys file (API_KEYS_FILE)');
  keys
    .command('new')
    .description('make a key; its entry for the keys file goes to standard output, the key to standard error')
    .requiredOption('--name <name>', 'whose key it is')
    .option('--may <permissions>', 'what it may do: read,run,cancel,cases,ops', 'read,run,cancel,cases,ops')
    .option('--apps <ids>', 'for which apps; without it for all')
    .option('--expires <date>', 'when it ends, such as 2027-06-30')
    .option('--json', 'print key and entry as one JSON object on standard output')
    .addHelpText('after', KEYS_NEW_EXAMPLES)
    .action(async (options: NewKeyOptions) => ended((await import('./keys.ts')).newKey(options, surroundings)));
  keys
    .command('check')
    .description('check a keys file and tell what its entries may do')
    .argument('[file]', 'the file; API_KEYS_FILE says so as well')
    .option('--json', 'print the entries as JSON')
    .addHelpText('after', KEYS_CHECK_EXAMPLES)
    .action(async (file: string | undefined, options: CheckKeysOptions) =>
      ended(await (await import('./keys.ts')).checkKeys(file, options, surroundings)),
    );
}
