import type { Command } from 'commander';
import { KEYS_CHECK_EXAMPLES, KEYS_NEW_EXAMPLES } from '../help-texts.ts';
import { needsOptions } from '../needs-options.ts';
import type { Surroundings } from '../terminal/surroundings.ts';
import type { CheckKeysOptions, NewKeyOptions } from './keys.ts';

/** The commands about keys. They call no API. */
export function describeKeys(program: Command, surroundings: Surroundings, ended: (code: number) => void): void {
  const keys = program.command('keys').description('make a key, or check a keys file (API_KEYS_FILE)');
  const made = keys
    .command('new')
    .description('make a key; its entry for the keys file goes to standard output, the key to standard error')
    .option('--name <name>', 'whose key it is')
    .option('--may <permissions>', 'what it may do: read,run,cancel,cases,ops', 'read,run,cancel,cases,ops')
    .option('--apps <ids>', 'for which apps; without it for all')
    .option('--expires <date>', 'when it ends, such as 2027-06-30')
    .option('--json', 'print key and entry as one JSON object on standard output')
    .addHelpText('after', KEYS_NEW_EXAMPLES)
    .action(async (options: NewKeyOptions) => ended((await import('./keys.ts')).newKey(options, surroundings)));
  needsOptions(made, 'name');
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
