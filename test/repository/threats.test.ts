import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
/** Lines are wrapped anywhere. */
const flat = (text: string) => text.replace(/\s+/g, ' ');

const promised = flat(`${read('docs/security.md')} ${read('docs/reliability.md')}`);
const rows = read('docs/threats.md')
  .split('\n')
  .flatMap((line) => {
    const [, promise, file, name] = /^\| (.+) \| `(.+\.ts)` \| (.+) \|$/.exec(line) ?? [];
    return promise && file && name ? [{ promise, file, name }] : [];
  });

/** What reviews and attacks came to, by who could do what; and the beginnings of the tests. */
const DONE_ONCE: Record<string, string[]> = {
  'a client made a rule of another app run again, and stopped all workers': [
    'processes/strangers.test.ts: finds the workers’ own folder closed',
    'processes/strangers.test.ts: cannot make a rule run twice',
    'processes/strangers.test.ts: who could put another folder in the place',
    'processes/strangers.test.ts: with a group for each app it gets nothing of another app',
    'cli/doctor-strangers.test.ts: names one in which clients may move what is not theirs',
  ],
  'one key took all places with what outlives its requests': [
    'journeys/limits-of-keys.test.ts: batches: a key has no more running than it may',
    'journeys/limits-of-keys.test.ts: batches: of ten that come at once',
    'journeys/limits-of-keys.test.ts: open executions: those that nobody waits for',
    'journeys/limits-of-keys.test.ts: open executions: those whose callers have left',
  ],
  'a hidden value was shown as a number, as a name, or under another path': [
    'journeys/privacy.test.ts: no way out shows the copies',
  ],
  'inputs were read, and things changed, without a line in the audit log that says of what and by whom': [
    'journeys/audit-reads.test.ts: has a line of every answer that shows an input',
    'journeys/audit-reads.test.ts: says which app, rule, execution and batch',
    'journeys/audit-reads.test.ts: names the person whose browser',
  ],
  'a deployment had no way to give keys their rights': [
    'repository/settings-of-deployments.test.ts: a file that a setting names',
  ],
  'an open door was not told of before the start': ['cli/doctor-open-door.test.ts: warns of HOST'],
  'an API started with a trace of its fault instead of a sentence where it could write no audit log': [
    'processes/unusable-audit-log.test.ts: an audit log %s is named in one sentence',
  ],
  'what builds and runs the service came without a digest': [
    'repository/pins.test.ts: that are not pinned are refused',
    'repository/dependencies.test.ts: every package is pinned by its digest',
  ],
  'another user of the machine read inputs': [
    'processes/strangers.test.ts: its group reads a request and others do not',
    'processes/strangers.test.ts: makes for it is as open as the directory of its app',
  ],
  'what a client writes changed how a line looks in a terminal or a log': [
    'cli/command-line.test.ts: shows as an escape whatever a client wrote',
  ],
  'a digest of the secrets stood where many read': ['deploy/pod-annotations.test.ts: is the same for another secret'],
  'somebody got at something through an operation that was forgotten': [
    'journeys/matrix.test.ts: gets what its permission',
  ],
};

describe('each promise stands beside its test', () => {
  it.each(rows)('$promise', ({ promise, file, name }) => {
    expect({ isPromised: promised.includes(promise) }).toEqual({ isPromised: true });
    expect({ isTested: read(join('test', file)).includes(name) }).toEqual({ isTested: true });
  });

  it('each row of a table in there has one', () => {
    expect(rows.length).toBeGreaterThan(160);
    const missing = tableRows.filter(
      (row) => !UNTESTED.test(row) && !rows.some(({ promise }) => row.includes(promise)),
    );
    expect(missing).toEqual([]);
  });
});

describe('what could be done once', () => {
  it.each(Object.entries(DONE_ONCE))(
    '%s: it stands there with each test that shows that it cannot be any more',
    (_, tests) => {
      const listed = rows.map(({ file, name }) => `${file}: ${name}`);
      expect(tests.filter((test) => !listed.some((row) => row.startsWith(test)))).toEqual([]);
    },
  );
});

/** What the simulator searched is told by the simulator itself. */
function withoutSearches(text: string): string {
  return text.replaceAll(/<!-- simulate: \w+ -->[\s\S]*?<!-- end -->/g, '');
}

/** What each table says, without the rows of permissions: their own test reads them from the document. */
const tableRows = ['docs/security.md', 'docs/reliability.md'].flatMap((path) =>
  [...withoutSearches(read(path)).matchAll(/^\|(?: ?-+ ?\|)+\n((?:\|.*\n)+)/gm)]
    .flatMap(([, body = '']) => body.trim().split('\n'))
    .filter((row) => !/^\| `(GET|PUT|POST|DELETE) /.test(row)),
);
/** What others do or decide: what Redis does with its files, what people save, and a wait that is said to be longer. */
const UNTESTED = /^\| (\d+ min, .*|Redis, its own files|shared directory, saved cases|an API's clock, ahead) \|/;
