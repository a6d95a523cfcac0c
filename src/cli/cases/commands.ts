import { type Command, Option } from 'commander';
import { targetForms } from '../../shared/contract/target.ts';
import { needsOptions } from '../needs-options.ts';
import { addRecordedSearch } from '../runs/search-words.ts';
import type { Surroundings } from '../terminal/surroundings.ts';
import type { BatchOptions } from './batch.ts';
import { BATCH_HELP, CASES_HELP, RECORD_HELP, TEST_HELP } from './help-texts.ts';
import type { RecordOptions } from './record.ts';
import type { SavedRunOptions } from './saved-run.ts';
import type { PullOptions, PushOptions } from './sync.ts';

type Describing = {
  surroundings: Surroundings;
  ended: (code: number) => void;
  /** Adds the options of every command that talks to an API. */
  withApi: (command: Command) => Command;
};

/** The commands about cases: run them, run many inputs, keep them. Each loads only what it needs. */
export function describeCases(program: Command, describing: Describing): void {
  describeTest(program, describing);
  describeBatch(program, describing);
  const cases = program.command('cases').description('move cases between a repository and the service, or record them');
  describePull(cases, describing);
  describePush(cases, describing);
  describeRecord(cases, describing);
}

const collect = (value: string, earlier: string[] = []) => [...earlier, value];

function describeTest(program: Command, { surroundings, ended, withApi }: Describing): void {
  const test = program
    .command('test')
    .description('run cases on live clients, or in this process, and tell what is not as expected')
    .argument('[paths...]', 'files of cases, or directories that have some (*.cases.yaml, .yml, .json)')
    .option('--app <id>', 'the app, where the document names none')
    .option('--rule-id <id>', 'the rule, likewise')
    .option('--conf-id <id>', 'a node, likewise')
    .option('--saved', 'run the cases saved at the service')
    .addOption(
      new Option('--leaves <module>', 'run them in this process, with the leaves that the module exports').conflicts([
        ...['saved', 'target', 'concurrency'],
      ]),
    )
    .option('--rules <folder>', 'the rules for --leaves: the folder of one app, with bases and confs in it')
    .option('--target <target>', `${targetForms.join(', ')}, or client:* for each; may be repeated`, collect)
    .option('--junit <file>', 'write a JUnit report')
    .option('--concurrency <n>', 'runs open at one client')
    .option('--bail', 'stop at the first failure')
    .option('--dry-run', 'without effects: a leaf that has some is not called, and counts as TRUE')
    .option('--update', 'write what was found into the expectations it differs from')
    .addOption(
      new Option('--propose-ignore', 'run each case twice on the first target, and print what to ignore').conflicts([
        ...['update', 'junit', 'json', 'bail'],
      ]),
    )
    .option('--filter <text>', 'only cases with this in their name or tags')
    .option('--yes', 'more than 100 runs are meant')
    .option('--run <file>', 'in the place of cases: a saved run, without effects; does it come to the same?')
    .option('--real', 'of --run: with all effects')
    .option('--as-case <file>', 'of --run: keep it in this document of cases')
    .action(async (paths: string[], options: SavedRunOptions) =>
      ended(
        options.run === undefined && options.asCase === undefined && !options.real
          ? await (await import('./test.ts')).test(paths, options, surroundings)
          : await (await import('./saved-run.ts')).testSavedRun(paths, options, surroundings),
      ),
    );
  withApi(test).addHelpText('after', TEST_HELP);
}

function describeBatch(program: Command, { surroundings, ended, withApi }: Describing): void {
  const batch = program
    .command('batch')
    .description('run each row of a CSV file, and compare the targets')
    .option('--csv <file>', 'a header of input paths, and a row for each run')
    .option('--app <id>', 'the app')
    .option('--rule-id <id>', 'the rule')
    .option('--conf-id <id>', 'a node: run the sub-tree below it; with --rule-id as a part of that rule')
    .option('--target <target>', `${targetForms.join(', ')}, or client:* for each; may be repeated`, collect)
    .option('--out <file>', 'where the results go: .csv, .json, .xml (JUnit) or .md')
    .option('--concurrency <n>', 'runs open at one client')
    .option('--dry-run', 'without effects: a leaf that has some is not called, and counts as TRUE')
    .option('--skip-invalid', 'rows with mistakes are set aside and named, and the others run')
    .option('--time-zone <name>', 'of times without an offset, such as Europe/Berlin')
    .option('--yes', 'more than 100 runs are meant')
    .action(async (options: BatchOptions) => ended(await (await import('./batch.ts')).batch(options, surroundings)));
  needsOptions(batch, 'csv', 'app');
  withApi(batch).addHelpText('after', BATCH_HELP);
}

function describePull(cases: Command, { surroundings, ended, withApi }: Describing): void {
  const pull = cases
    .command('pull')
    .description('write the saved cases into a file')
    .option('--app <id>', 'the app')
    .option('--rule-id <id>', 'the rule')
    .option('--conf-id <id>', 'a node')
    .option('--out <file>', 'the file; otherwise rule-<id>.cases.yaml')
    .option('--force', 'also over a file that says something else')
    .action(async (options: PullOptions) => ended(await (await import('./sync.ts')).pull(options, surroundings)));
  needsOptions(pull, 'app');
  withApi(pull).addHelpText('after', CASES_HELP);
}

function describePush(cases: Command, { surroundings, ended, withApi }: Describing): void {
  const push = cases
    .command('push')
    .description('save the cases of a file')
    .argument('<file>', 'the file')
    .option('--app <id>', 'the app, where the document names none')
    .option('--rule-id <id>', 'the rule, likewise')
    .option('--conf-id <id>', 'a node, likewise')
    .option('--force', 'also over saved cases that say something else')
    .action(async (file: string, options: PushOptions) =>
      ended(await (await import('./sync.ts')).push(file, options, surroundings)),
    );
  withApi(push).addHelpText('after', CASES_HELP);
}

function describeRecord(cases: Command, { surroundings, ended, withApi }: Describing): void {
  const record = cases
    .command('record')
    .description('write cases from earlier executions, one for each way through the tree')
    .option('--every', 'a case for each execution')
    .option('--out <file>', 'the file; otherwise rule-<id>.cases.yaml')
    .option('--force', 'also over a file that is there')
    .action(async (options: RecordOptions) => ended(await (await import('./record.ts')).record(options, surroundings)));
  addRecordedSearch(record);
  needsOptions(record, 'app', 'ruleId');
  withApi(record).addHelpText('after', RECORD_HELP);
}
