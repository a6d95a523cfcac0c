import { type Command, Option } from 'commander';
import type { Surroundings } from '../terminal/surroundings.ts';

/** What a command does, with its arguments, its options and the surroundings. Resolves to the exit code. */
type Run = (...given: never[]) => number | Promise<number>;

export type Describing = ReturnType<typeof createDescribing>;

/** What the descriptions of commands have in common. `ended` is told the exit code. */
export function createDescribing(program: Command, surroundings: Surroundings, ended: (code: number) => void) {
  const { RULE_SERVER_URL, RULE_SERVER_KEY } = surroundings.environment;

  /** Adds a command that loads what it needs only when it runs. */
  function command(name: string, load: () => Promise<Run>, parent = program): Command {
    return parent.command(name).action(async (...given) => {
      const asked = given.slice(0, -1); // commander adds the command itself
      ended(await Reflect.apply(await load(), undefined, [...asked, surroundings]));
    });
  }

  /** Adds the options of a command that calls an API, and requires those it needs. */
  function withUrl(described: Command, ...needed: string[]): Command {
    const key = new Option('--key <key>', 'an API key; as RULE_SERVER_KEY it stays out of process lists');
    needsOptions(described, ...needed);
    return described
      .option(
        '--url <url>',
        'where the API is; RULE_SERVER_URL says so as well',
        RULE_SERVER_URL ?? 'http://127.0.0.1:8080',
      )
      .addOption(key.default(RULE_SERVER_KEY, 'RULE_SERVER_KEY'));
  }

  const withApi = (described: Command, ...needed: string[]) =>
    withUrl(described, ...needed).option('--json', 'print the answer as it is, for programs');

  return { program, surroundings, command, withUrl, withApi };
}

export const DRY_RUN = [
  '--dry-run',
  'without effects: a leaf that has some is not called, and counts as TRUE',
] as const;

/** Adds what a call names. */
export const addCalled = (described: Command) =>
  described
    .option('--app <id>', 'the app')
    .option('--rule-id <id>', 'the rule')
    .option('--conf-id <id>', 'a node: run the sub-tree below it; with --rule-id as a part of that rule');

/**
 * Required options, checked last, so that a misspelt one is reported as unknown. Commander's `requiredOption` is checked first and would
 * only say that it is missing.
 */
export function needsOptions(command: Command, ...names: string[]): void {
  command.hook('preAction', (_, asked) => {
    const missing = asked.options.find(
      (option) => names.includes(option.attributeName()) && asked.getOptionValue(option.attributeName()) === undefined,
    );
    if (missing) asked.error(`error: required option '${missing.flags}' not specified`);
  });
}
