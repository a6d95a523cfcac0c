import { Command, CommanderError } from 'commander';
import { visibleLines } from '../shared/contract/json/visible-text.ts';
import { version } from '../version.ts';
import { describeConnecting } from './commands/connecting.ts';
import { createDescribing } from './commands/describing.ts';
import { describeOperating } from './commands/operating.ts';
import { describeRunning } from './commands/running.ts';
import { describeServices } from './commands/services.ts';
import { describeTesting } from './commands/testing.ts';
import { EXIT_CODES_HELP, exitCodes } from './terminal/exit-codes.ts';
import { CommandFailed, type Surroundings } from './terminal/surroundings.ts';

const introduction = (
  services: boolean,
) => `Runs business rules on the clients that live with them, and shows what they do.

${services ? 'Services take their settings from the environment (see docs/run/settings.md). The other' : 'The'} commands talk to a running API.

An API serves the documents that are named here: http://127.0.0.1:8080/docs/run/settings.md.`;

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
    .description(introduction(services))
    .version(version, '-v, --version')
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(visibleLines(text)) })
    .showHelpAfterError('(rule-server --help tells more)');

  if (services) describeServices(program.commandsGroup('Start a service:'));
  const describing = createDescribing(program, surroundings, ended);
  program.commandsGroup('Run rules, and see what they did:');
  describeRunning(describing);
  program.commandsGroup('Test rules before a release:');
  describeTesting(describing);
  program.commandsGroup('Operate the service:');
  describeOperating(describing);
  program.commandsGroup('Connect:');
  describeConnecting(describing);
  program.addHelpText('after', EXIT_CODES_HELP);
  return program;
}
