import { Command, CommanderError } from 'commander';
import { visibleLines } from '../shared/contract/json/visible-text.ts';
import { version } from '../version.ts';
import { describeCommands } from './commands.ts';
import { INTRODUCTION, SERVICE_HELP } from './help-texts.ts';
import { EXIT_CODES_HELP, exitCodes } from './terminal/exit-codes.ts';
import { CommandFailed, type Surroundings } from './terminal/surroundings.ts';

/** Runs one command line and resolves to its exit code. `services`: the commands that start one are there too. */
export async function runCommand(
  parameters: string[],
  surroundings: Surroundings,
  { services = true } = {},
): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const ended = (code: number) => {
    exitCode = code;
  };
  const program = describe(surroundings, services, ended);
  try {
    refuseOtherEncodings(parameters);
    await program.parseAsync(parameters, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (!(error instanceof CommandFailed)) throw error;
    surroundings.stderr.write(`${visibleLines(error.message)}\n`);
    return error.exitCode;
  }
}

/** Node decodes arguments and replaces bytes that are not UTF-8 by U+FFFD, so the original bytes cannot be recovered. */
function refuseOtherEncodings(parameters: readonly string[]): void {
  const index = parameters.findIndex((parameter) => parameter.includes('\ufffd'));
  if (index < 0) return;
  const [before = ''] = parameters[index - 1]?.split('=') ?? [];
  const place = `Argument ${index + 1}${before.startsWith('-') ? ` (after ${before})` : ''}`;
  throw new CommandFailed(
    `${place} is not valid UTF-8, or holds U+FFFD: give it in a file or on standard input, or as \\ufffd in JSON.`,
    exitCodes.usage,
  );
}

function describe(surroundings: Surroundings, services: boolean, ended: (code: number) => void): Command {
  const { stdout, stderr } = surroundings;
  const program = new Command('rule-server')
    .description(INTRODUCTION)
    .version(version, '-v, --version')
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(visibleLines(text)) })
    .showHelpAfterError('(rule-server --help tells more)');

  if (services) describeServices(program);
  describeCommands(program, surroundings, ended);
  program.addHelpText('after', EXIT_CODES_HELP);
  return program;
}

function describeServices(program: Command): void {
  const service = (name: keyof typeof SERVICE_HELP, description: string) =>
    program.command(name).description(description).addHelpText('after', SERVICE_HELP[name]);
  program.commandsGroup('Start a service:');
  service('all', 'start API, worker and, without SHARED_DIR, a demo client in one process').alias('start');
  service('api', 'start the HTTP side; needs REDIS_URL, never SHARED_DIR');
  service('worker', 'start the side that writes and watches files; needs REDIS_URL and SHARED_DIR');
  service('demo-client', 'start the demo client (app 9001) in SHARED_DIR');
}
