import { totalOf } from '../cases/batch.ts';
import type { BatchReport } from '../contract/batches.ts';
import { visibleLines } from '../contract/json/visible-text.ts';
import { reasonsOf, type Told } from './reported.ts';

/** Characters that XML 1.0 cannot hold, not even escaped. */
const ILLEGAL = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** A batch, or something else with targets, as its JUnit report tells it. */
type JUnitBatch = Pick<BatchReport, 'batchId' | 'app' | 'ruleId' | 'confId' | 'file' | 'createdAt' | 'targets'> & {
  items: JUnitItem[];
};
type JUnitItem = Told & Pick<BatchReport['items'][number], 'name' | 'line' | 'target' | 'tookMs'>;
type Counts = BatchReport['counts'];

/** The report that GitLab, Jenkins and GitHub's test reporters read: a testsuite for each target, a testcase for each case. */
export function junitReport(...batches: JUnitBatch[]): string {
  const total = totalOf(batches.flatMap(({ targets }) => targets.map(({ counts }) => counts)));
  const unique = createUniqueNames();
  const suites = batches.flatMap((batch) => suitesOf(batch, unique));
  const tests = batches.reduce((sum, { items }) => sum + items.length, 0);
  const name = `rule server batch ${batches.map(({ batchId }) => batchId).join(', ')}`;
  const head = attributes({ name, ...countsOf(total, tests, true) });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${head}>\n${suites.join('')}</testsuites>\n`;
}

/** Makes names unique within a class, because GitLab and others keep only one test of each classname and name. */
function createUniqueNames() {
  /** Continues numbering where it stopped, because many rows may share a name. */
  const given = new Map<string, number>();
  return (classname: string, name: string): string => {
    const identityOf = (shown: string) => escaped(JSON.stringify([classname, shown]));
    let [shown, count] = [name, given.get(identityOf(name)) ?? 1];
    while (given.has(identityOf(shown))) shown = `${name} (${++count})`;
    given.set(identityOf(shown), 1);
    given.set(identityOf(name), count);
    return shown;
  };
}

function suitesOf(batch: JUnitBatch, unique: ReturnType<typeof createUniqueNames>): string[] {
  const { app, ruleId, confId, file, createdAt } = batch;
  const of = `app ${app}${ruleId === null ? '' : ` rule ${ruleId}`}${confId === null ? '' : ` node ${confId}`}`;
  return batch.targets.map(({ target, counts }) => {
    const own = batch.items.filter((item) => item.target === target);
    const classname = `${file === null ? '' : `${file}: `}${of} on ${target}`;
    const cases = own.map((item) => testCase({ ...item, name: unique(classname, item.name) }, file, classname));
    const head = attributes({
      name: classname,
      ...countsOf(counts, own.length),
      time: seconds(own.reduce((sum, { tookMs }) => sum + (tookMs ?? 0), 0)),
      timestamp: new Date(createdAt).toISOString().slice(0, 19),
      hostname: 'rule-server',
    });
    return `  <testsuite ${head}>\n${cases.join('')}  </testsuite>\n`;
  });
}

function countsOf(of: Counts, tests: number, isTotal = false) {
  const counts = { tests, failures: of.failed + of.changed, errors: of.error + of.unanswered };
  return isTotal ? counts : { ...counts, skipped: of.skipped + of.pending + of.noise + of['not-checked'] };
}

function testCase(item: JUnitItem, file: string | null, classname: string): string {
  const { name, line, tookMs, verdict } = item;
  const where = { ...(file !== null && { file }), ...(line !== null && { line }) };
  const head = attributes({ name, classname, time: seconds(tookMs ?? 0), ...where });
  const reasons = reasonsOf(item);
  const [message = verdict] = reasons;
  const told = (element: string, type: string) =>
    `>\n      <${element} ${attributes({ message, type })}>${escaped(reasons.join('\n'))}</${element}>\n    </testcase>\n`;
  switch (verdict) {
    case 'passed':
    case 'ran':
    case 'same':
      return `    <testcase ${head}/>\n`;
    case 'failed':
    case 'changed':
      return `    <testcase ${head}${told('failure', verdict)}`;
    case 'error':
    case 'unanswered':
      return `    <testcase ${head}${told('error', item.code ?? verdict)}`;
    case 'not-checked':
    case 'noise':
    case 'skipped':
    case 'pending':
      return `    <testcase ${head}>\n      <skipped ${attributes({ message })}/>\n    </testcase>\n`;
  }
}

function attributes(values: Record<string, string | number>): string {
  return Object.entries(values)
    .map(
      ([name, value]) =>
        `${name}="${escaped(String(value)).replace(/[\t\n\r]/g, (char) => `&#${char.charCodeAt(0)};`)}"`,
    )
    .join(' ');
}

/** Text for XML: also `]]>` and what XML cannot hold. */
function escaped(text: string): string {
  return visibleLines(text)
    .replace(ILLEGAL, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;');
}

const seconds = (ms: number) => (ms / 1000).toFixed(3);
