import type { Command } from 'commander';

/**
 * The options without which a command does not begin. They are looked for last, so that a misspelt one is named as unknown: commander's own
 * `requiredOption` comes first, and says only that it is missing.
 */
export function needsOptions(command: Command, ...names: string[]): void {
  command.hook('preAction', (_, asked) => {
    const missing = asked.options.find(
      (option) => names.includes(option.attributeName()) && asked.getOptionValue(option.attributeName()) === undefined,
    );
    if (missing) asked.error(`error: required option '${missing.flags}' not specified`);
  });
}
