import { type Command, Option } from 'commander';
import { targetForms } from '../../shared/contract/target.ts';
import type { SavedRunOptions } from '../cases/saved-run.ts';
import { addRecordedSearch } from '../runs/search-words.ts';
import { exitCodesHelp } from '../terminal/exit-codes.ts';
import type { Surroundings } from '../terminal/surroundings.ts';
import { addCalled, type Describing, DRY_RUN } from './describing.ts';

/** The commands about cases: run them, run many inputs, keep them. */
export function describeCases(describing: Describing): void {
  describeTest(describing);
  describeBatch(describing);
  const cases = describing.program
    .command('cases')
    .description('move cases between a repository and the service, or record them');
  describePull(cases, describing);
  describePush(cases, describing);
  describeRecord(cases, describing);
}

/** Adds what a document of cases may name itself. */
const addOfDocument = (described: Command) =>
  described
    .option('--app <id>', 'the app, where the document names none')
    .option('--rule-id <id>', 'the rule, likewise')
    .option('--conf-id <id>', 'a node, likewise');

const collect = (value: string, earlier: string[] = []) => [...earlier, value];

const BATCH_EXIT_CODES = exitCodesHelp([0, 1, 2, 3, 4, 8, 130], {
  0: 'all passed',
  1: 'some failed, or their rule or client failed',
  4: 'else: some were not answered, or the batch was cancelled',
  130: 'Ctrl-C: the batch is cancelled',
});

const TEST_HELP = `
Examples:
  rule-server test examples/demo.cases.yaml --target lane:beta --junit out.xml
  rule-server test cases/ --filter release --bail
  rule-server test --saved --app 9001 --rule-id 1 --target all --target lane:beta
  rule-server test cases/ --leaves ./src/leaves.ts --rules ./rules --junit out.xml
  rule-server test --run run-94de541c.rule-run.json --leaves ./src/leaves.ts --as-case recharge.cases.yaml

These are real runs with real effects: how many, and what they may call, is printed first. --update changes only what is expected
already and differs; after that a case counts as passed. --propose-ignore runs each case twice and prints what to put into "ignore"
of the document. On GitHub each failure is an annotation. --leaves needs no service: the module exports what createRuleClient is
given, as "leaves" or as the default, and --rules is the folder of the app's rules. A leaf's effects happen there too.
--run takes the file of "rule-server run save": it runs with these leaves on the rules that it holds, or on those of --rules, and is compared
with what it came to; where it differs, the first node is named.
${BATCH_EXIT_CODES}`;

/** `--run` takes a saved run in the place of cases. */
const loadTest = async () => async (paths: string[], options: SavedRunOptions, surroundings: Surroundings) =>
  options.run === undefined && options.asCase === undefined && !options.real
    ? (await import('../cases/test.ts')).test(paths, options, surroundings)
    : (await import('../cases/saved-run.ts')).testSavedRun(paths, options, surroundings);

function describeTest({ command, withApi }: Describing): void {
  const test = command('test', loadTest)
    .description('run cases on live clients, or in this process, and tell what is not as expected')
    .argument('[paths...]', 'files of cases, or directories that have some (*.cases.yaml, .yml, .json)');
  addOfDocument(test)
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
    .option(...DRY_RUN)
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
    .option('--as-case <file>', 'of --run: keep it in this document of cases');
  withApi(test).addHelpText('after', TEST_HELP);
}

const BATCH_HELP = `
Examples:
  rule-server batch --csv users.csv --app 9001 --rule-id 1 --target all --target lane:beta --out results.csv

The header holds input paths such as user.age, and name and asOf. An empty cell is absent, "" is an empty text.
With several targets each run is compared with that on the first of them.
A row with a mistake refuses all rows, unless --skip-invalid leaves it out. A time in asOf has an offset, or --time-zone says where it is.
${BATCH_EXIT_CODES}`;

function describeBatch({ command, withApi }: Describing): void {
  const batch = command('batch', async () => (await import('../cases/batch.ts')).batch)
    .description('run each row of a CSV file, and compare the targets')
    .option('--csv <file>', 'a header of input paths, and a row for each run');
  addCalled(batch)
    .option('--target <target>', `${targetForms.join(', ')}, or client:* for each; may be repeated`, collect)
    .option('--out <file>', 'where the results go: .csv, .json, .xml (JUnit) or .md')
    .option('--concurrency <n>', 'runs open at one client')
    .option(...DRY_RUN)
    .option('--skip-invalid', 'rows with mistakes are set aside and named, and the others run')
    .option('--time-zone <name>', 'of times without an offset, such as Europe/Berlin')
    .option('--yes', 'more than 100 runs are meant');
  withApi(batch, 'csv', 'app').addHelpText('after', BATCH_HELP);
}

const CASES_HELP = `
Examples:
  rule-server cases pull --app 9001 --rule-id 1 --out recharge.cases.yaml
  rule-server cases push recharge.cases.yaml

Neither overwrites something else without --force: it names the cases that differ.
${exitCodesHelp([0, 1, 2, 3, 8], {
  0: 'the file and the saved cases are the same now',
  1: 'something else would have been overwritten',
})}`;

function describePull(cases: Command, { command, withApi }: Describing): void {
  const pull = command('pull', async () => (await import('../cases/sync.ts')).pull, cases)
    .description('write the saved cases into a file')
    .option('--app <id>', 'the app')
    .option('--rule-id <id>', 'the rule')
    .option('--conf-id <id>', 'a node')
    .option('--out <file>', 'the file; otherwise rule-<id>.cases.yaml')
    .option('--force', 'also over a file that says something else');
  withApi(pull, 'app').addHelpText('after', CASES_HELP);
}

function describePush(cases: Command, { command, withApi }: Describing): void {
  const push = command('push', async () => (await import('../cases/sync.ts')).push, cases)
    .description('save the cases of a file')
    .argument('<file>', 'the file');
  addOfDocument(push).option('--force', 'also over saved cases that say something else');
  withApi(push).addHelpText('after', CASES_HELP);
}

const RECORD_HELP = `
Examples:
  rule-server cases record --app 9001 --rule-id 1 --out recharge.cases.yaml
  rule-server cases record --app 9001 --rule-id 1 --where 'city="Berlin"' --from 2026-11-23 --limit 2000 --every

Each case expects the outcome that its execution came to, as of the time that it ran as of. Executions with hidden fields, or without their
whole input, are left out and counted. The file holds real inputs: look through it before it goes into a repository.
${exitCodesHelp([0, 1, 2, 3, 8, 130], { 0: 'the file is written', 1: 'a file is there already' })}`;

function describeRecord(cases: Command, { command, withApi }: Describing): void {
  const record = command('record', async () => (await import('../cases/record.ts')).record, cases)
    .description('write cases from earlier executions, one for each way through the tree')
    .option('--every', 'a case for each execution')
    .option('--out <file>', 'the file; otherwise rule-<id>.cases.yaml')
    .option('--force', 'also over a file that is there');
  withApi(addRecordedSearch(record), 'app', 'ruleId').addHelpText('after', RECORD_HELP);
}
