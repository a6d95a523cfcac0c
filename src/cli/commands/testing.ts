import { Argument } from 'commander';
import { anyForm } from '../../shared/contract/target.ts';
import { addRecorded, addRecordedSearch } from '../runs/search-words.ts';
import { exitCodesHelp } from '../terminal/exit-codes.ts';
import { describeCases } from './cases.ts';
import type { Describing } from './describing.ts';

/** The commands that test rules before a release. */
export function describeTesting(describing: Describing): void {
  describeCases(describing);
  describeReplay(describing);
  describeCheck(describing);
  describeReport(describing);
  describeSchema(describing);
}

const REPLAY_HELP = `
Examples:
  rule-server replay --app 9001 --rule-id 1 --target lane:beta
  rule-server replay --app 9001 --rule-id 1 --target lane:beta --where 'city="Berlin"' --from 2026-11-23 --limit 2000 --junit out.xml --csv out.csv

Outcomes, errors, consequences and the data that changed are compared, and grouped by what changed and the first node that differs. A consequence is
not called in a run without effects: what follows from it is not checked. Runs with hidden fields, without their whole input, or without an answer
are left out and counted. A leaf that reads the clock itself reads the time of now.
${exitCodesHelp([0, 1, 2, 3, 4, 8, 130], { 0: 'every run came to the same', 1: 'a run would change', 4: 'no compared run would change, and some could not be compared' })}`;

function describeReplay({ command, withApi }: Describing): void {
  const replay = command('replay', async () => (await import('../cases/replay.ts')).replay)
    .description('run the inputs of earlier executions again without effects, and tell what would change')
    .option('--target <target>', anyForm(''), 'all')
    .option(
      '--ts <time>',
      'run all as of this time, epoch ms, or now; if not given, each as of the time that it ran as of',
    )
    .option('--real', 'with all effects')
    .option('--yes', 'more than 100 real runs are meant')
    .option('--junit <file>', 'write a JUnit report')
    .option('--csv <file>', 'write the runs as CSV');
  withApi(addRecordedSearch(replay), 'app', 'ruleId').addHelpText('after', REPLAY_HELP);
}

const CHECK_HELP = `
Examples:
  rule-server check --app 9001 --target lane:beta
  rule-server check --app 9001 --rule-id 1 --target lane:beta --junit out.xml

A rule can ship when its saved cases passed in their last batch on this target, on the rules that are released now, and nothing in its tree
stops it. Nothing runs: "rule-server test --saved" runs the cases.
${exitCodesHelp([0, 1, 2, 3, 4, 8], {
  0: 'every rule can ship',
  1: 'a rule cannot ship',
  3: 'there is no such rule',
  4: 'no rule is refused, and one is not tested',
})}`;

function describeCheck({ command, withApi }: Describing): void {
  const check = command('check', async () => (await import('../cases/check.ts')).check)
    .description('tell whether rules can be released: by their trees, and by how their saved cases last ran')
    .option('--app <id>', 'the app')
    .option('--rule-id <id>', 'only this rule')
    .option('--target <target>', anyForm(''), 'all')
    .option('--junit <file>', 'write a JUnit report');
  withApi(check, 'app').addHelpText('after', CHECK_HELP);
}

const REPORT_HELP = `
Examples:
  rule-server report --app 9001 --target lane:beta --from -24h --out report.md
  rule-server report --app 9001 --rule-id 1 --target lane:beta --from 2026-11-23 --limit 2000 --counts

Makes recorded runs of each rule again without effects, as "rule-server replay" does, and adds what "rule-server check" tells: how the saved
cases last ran, and whether the rule can ship. Run "rule-server test --saved" before. The text is also appended to the file that
GITHUB_STEP_SUMMARY names. --comment needs GITHUB_TOKEN; by the first line of the text it finds the comment of the last report and replaces it.
What MASK hides stays hidden. The report decides nothing: "check" does.
${exitCodesHelp([0, 1, 2, 3, 4, 8, 130], { 0: 'the report is written', 1: 'the comment cannot be written', 4: 'it is written, and some runs could not be made again' })}`;

function describeReport({ command, withUrl }: Describing): void {
  const report = command('report', async () => (await import('../cases/report.ts')).report)
    .description('tell in Markdown what a release would change, and whether it can ship, for a pull request')
    .option('--app <id>', 'the app')
    .option('--rule-id <id>', 'only this rule')
    .option('--target <target>', anyForm(''), 'all')
    .option('--out <file>', 'write it into a file')
    .option('--comment', 'in a workflow on GitHub: write it beside the pull request, in the place of the last one')
    .option('--counts', 'without values of inputs and data, for readers that may not see them');
  withUrl(addRecorded(report), 'app').addHelpText('after', REPORT_HELP);
}

const SCHEMA_HELP = `
Example:
  rule-server schema node > node.schema.json        an editor then checks confs/*.json
  rule-server schema answer                         what a client writes, docs/use/clients.md
${exitCodesHelp([0, 2])}`;

function describeSchema({ command }: Describing): void {
  command('schema', async () => (await import('../file-schemas.ts')).printSchema)
    .description('print the JSON Schema of a rule file, of a file between workers and clients, or of a saved run')
    .addArgument(new Argument('<file>', 'which file').choices(['rule', 'node', 'update', 'request', 'answer', 'run']))
    .addHelpText('after', SCHEMA_HELP);
}
