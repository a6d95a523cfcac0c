import { exitCodesHelp } from '../terminal/exit-codes.ts';

const EXIT_CODES = exitCodesHelp([0, 1, 2, 3, 4, 8, 130], {
  0: 'all passed',
  1: 'some failed, or their rule or client failed',
  4: 'else: some were not answered, or the batch was cancelled',
  130: 'Ctrl-C: the batch is cancelled',
});

export const TEST_HELP = `
Examples:
  rule-server test examples/demo.cases.yaml --target lane:beta --junit out.xml
  rule-server test cases/ --filter release --bail
  rule-server test --saved --app 9001 --rule-id 1 --target all --target lane:beta
  rule-server test cases/ --leaves ./src/leaves.ts --rules ./rules --junit out.xml
  rule-server test --run run-94de541c.rule-run.json --leaves ./src/leaves.ts --as-case recharge.cases.yaml

These are real runs with real effects: how many, and what they may call, is said before. --update changes only what is expected
already and differs; after that a case counts as passed. --propose-ignore runs each case twice and prints what to put into "ignore"
of the document. On GitHub each failure is an annotation. --leaves needs no service: the module exports what createRuleClient is
given, as "leaves" or as the default, and --rules is the folder of the app's rules. A leaf's effects happen there too.
--run takes the file of "rule-server run save": it runs with these leaves on the rules that it holds, or on those of --rules, and is compared
with what it came to; where it differs, the first node is named.
${EXIT_CODES}`;

export const BATCH_HELP = `
Examples:
  rule-server batch --csv users.csv --app 9001 --rule-id 1 --target all --target lane:beta --out results.csv

The header holds input paths such as user.age, and name and asOf. An empty cell is absent, "" is an empty text.
With several targets each run is compared with that on the first of them.
A row with a mistake refuses all rows, unless --skip-invalid leaves it out. A time in asOf has an offset, or --time-zone says where it is.
${EXIT_CODES}`;

export const CASES_HELP = `
Examples:
  rule-server cases pull --app 9001 --rule-id 1 --out recharge.cases.yaml
  rule-server cases push recharge.cases.yaml

Neither overwrites something else without --force: it names the cases that differ.
${exitCodesHelp([0, 1, 2, 3, 8], {
  0: 'the file and the saved cases are the same now',
  1: 'something else would have been overwritten',
})}`;

export const RECORD_HELP = `
Examples:
  rule-server cases record --app 9001 --rule-id 1 --out recharge.cases.yaml
  rule-server cases record --app 9001 --rule-id 1 --where 'city="Berlin"' --from 2026-11-23 --limit 2000 --every

Each case expects the outcome that its execution came to, as of the time that it ran as of. Executions with hidden fields, or without their
whole input, are left out and counted. The file holds real inputs: look through it before it goes into a repository.
${exitCodesHelp([0, 1, 2, 3, 8, 130], { 0: 'the file is written', 1: 'a file is there already' })}`;
