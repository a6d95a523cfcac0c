import { exitCodesHelp } from '../terminal/exit-codes.ts';
import { type Describing, needsOptions } from './describing.ts';

/** The commands that operate the service. */
export function describeOperating(describing: Describing): void {
  describeDoctor(describing);
  describeCheckClient(describing);
  describeErase(describing);
  describeKeys(describing);
  describeBackup(describing);
  describeForgetDirectory(describing);
  describeLayout(describing);
}

const DOCTOR_HELP = `
Examples:
  REDIS_URL=redis://redis:6379 SHARED_DIR=/data rule-server doctor
  docker compose exec worker node bin/rule-server.js doctor --url http://api:8080

Run it where a process runs, as its user and with its settings. With REDIS_URL and without
SHARED_DIR these are an API's: then the shared directory is not checked.
${exitCodesHelp([0, 1, 2], { 0: 'nothing failed; a warning is not a failure', 1: 'something failed' })}`;

function describeDoctor({ command, withApi }: Describing): void {
  const doctor = command('doctor', async () => (await import('../doctor/doctor.ts')).doctor).description(
    'check Redis, the shared directory, limits, clocks and workers, with the settings of this environment',
  );
  withApi(doctor).addHelpText('after', DOCTOR_HELP);
}

const CHECK_CLIENT_HELP = `
Examples:
  rule-server check-client /data/mock/7/orders-1
  rule-server check-client /data/mock/7/orders-1 --rule-id 12 --data '{"age":20}'

It plays the part of a worker, beside a running service or without one. docs/use/clients.md says what a client has to do.
${exitCodesHelp([0, 1, 2], { 0: 'every case passed; a warning is not a failure', 1: 'a case failed, or nobody answered' })}`;

function describeCheckClient({ command }: Describing): void {
  command('check-client', async () => (await import('../doctor/check-client.ts')).checkClient)
    .description('play the hard cases to a client of your own, in its directory: real runs of its rules')
    .argument('<directory>', 'what the client serves: mock/{app}/{address}')
    .option('--rule-id <id>', 'the rule that is asked for: 1, unless a node is')
    .option('--conf-id <id>', 'a node')
    .option('--data <json>', 'the input of every request, besides the member that is checked', '{}')
    .option('--within <seconds>', 'how long an answer may take', '15')
    .option('--json', 'print the findings as they are, for programs')
    .addHelpText('after', CHECK_CLIENT_HELP);
}

const ERASE_HELP = `
Removes its record with input and results, its job, the record and the answer of its Idempotency-Key, its item of a batch and its
files. 20 to 40 minutes later, the same call under that key would run again.

Example:
  rule-server erase 94de541c-6a1f-4d3c-9c7e-2f6d1c0b8a55
${exitCodesHelp([0, 2, 3, 8], {
  0: 'every trace is gone',
  3: 'there is none, or it has not ended: nothing was erased',
})}`;

function describeErase({ command, withApi }: Describing): void {
  const erase = command('erase', async () => (await import('../runs/erase.ts')).erase)
    .description('remove every trace of one execution that has ended; needs the permission ops')
    .argument('<mockId>', 'the execution');
  withApi(erase).addHelpText('after', ERASE_HELP);
}

const KEYS_NEW_HELP = `
Examples:
  rule-server keys new --name reports --may read --apps 1,9001 --expires 2027-06-30
  rule-server keys new --name console >> keys.yaml       the key itself goes to standard error

The key is shown once and kept nowhere: the keys file (API_KEYS_FILE) has its digest.
${exitCodesHelp([0, 1, 2], { 1: 'the options make no usable entry' })}`;

const KEYS_CHECK_HELP = `
Examples:
  rule-server keys check keys.yaml
  API_KEYS_FILE=keys.yaml rule-server keys check

With RULE_SERVER_KEY set it also tells which entry that key is.
${exitCodesHelp([0, 1, 2], { 0: 'the file can be used', 1: 'it cannot' })}`;

function describeKeys({ program, command }: Describing): void {
  const keys = program.command('keys').description('make a key, or check a keys file (API_KEYS_FILE)');
  const made = command('new', async () => (await import('../operating/keys.ts')).newKey, keys)
    .description('make a key; its entry for the keys file goes to standard output, the key to standard error')
    .option('--name <name>', 'whose key it is')
    .option('--may <permissions>', 'what it may do: read,run,cancel,cases,ops', 'read,run,cancel,cases,ops')
    .option('--apps <ids>', 'for which apps; without it for all')
    .option('--expires <date>', 'when it ends, such as 2027-06-30')
    .option('--json', 'print key and entry as one JSON object on standard output')
    .addHelpText('after', KEYS_NEW_HELP);
  needsOptions(made, 'name');
  command('check', async () => (await import('../operating/keys.ts')).checkKeys, keys)
    .description('check a keys file and tell what its entries may do')
    .argument('[file]', 'the file; API_KEYS_FILE says so as well')
    .option('--json', 'print the entries as JSON')
    .addHelpText('after', KEYS_CHECK_HELP);
}

const BACKUP_HELP = `
Examples:
  rule-server backup /var/backups/rule-server-$(date +%F).db
  rule-server backup --shared-dir /data ./store.db

Run it on the machine of the service, as its user. The service works on meanwhile. Once a copy is restored, executions that had not ended
when it was made, keyed ones included, end as outcome-unknown and do not run again.
${exitCodesHelp([0, 2, 3, 8], {
  0: 'the copy is whole',
  3: 'nothing was copied: the file is there already, or cannot be written',
  8: 'there is no store of a "rule-server all" without Redis',
})}`;

function describeBackup({ command }: Describing): void {
  command('backup', async () => (await import('../operating/backup.ts')).backup)
    .description('copy the store of "rule-server all" without Redis, while the service works on')
    .argument('<file>', 'where the copy goes; it must not be there yet')
    .option('--shared-dir <folder>', 'the SHARED_DIR of the service, if not that of this environment')
    .addHelpText('after', BACKUP_HELP);
}

const FORGET_DIRECTORY_HELP = `
Examples:
  REDIS_URL=redis://redis:6379 rule-server forget-directory

All workers of a queue use one SHARED_DIR, and Redis remembers which. This command is for a directory that is lost, with its claims of open
executions. To move a directory, stop the workers, copy all of it (.rule-server too) and start them on the copy, without this command.
Without Redis, start the service on another directory.
${exitCodesHelp([0, 1, 2, 8], {
  0: 'the next worker that starts registers its own SHARED_DIR',
  1: 'a worker still runs, or an execution could begin again',
  8: 'Redis does not answer',
})}`;

function describeForgetDirectory({ command }: Describing): void {
  command('forget-directory', async () => (await import('../operating/forget-directory.ts')).forgetDirectory)
    .description('let the workers of a queue use another SHARED_DIR, once all of them are stopped')
    .addHelpText('after', FORGET_DIRECTORY_HELP);
}

const LAYOUT_HELP = `
Examples:
  groupadd rules-7
  rule-server layout --app 7 --group rules-7 --worker rule-server --shared-dir /srv/rule-data

SHARED_DIR, mock and clients become writable for the workers' user alone (0755), so run this for each app. mock/7 and clients/7 become
writable and readable for that user and the group (2770). Clients in one group can do everything to each other.
${exitCodesHelp([0, 1, 2], {
  0: 'the directories are as said',
  1: 'this user may not change a directory, or a link is in the way',
})}`;

function describeLayout({ command }: Describing): void {
  const layout = command('layout', async () => (await import('../operating/layout.ts')).layout)
    .description(
      'give the directories of an app to a group of its own, so that clients of other apps cannot reach them',
    )
    .option('--app <id>', 'the app')
    .option('--group <group>', 'the group of its clients, by name or number')
    .option('--worker <user>', 'the user of the workers, by name or number; if not given, the owner of SHARED_DIR')
    .option('--shared-dir <folder>', 'the SHARED_DIR of the service, if not that of this environment')
    .addHelpText('after', LAYOUT_HELP);
  needsOptions(layout, 'app', 'group');
}
