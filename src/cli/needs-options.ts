import type { Command } from 'commander';

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
