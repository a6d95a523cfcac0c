import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Caught } from './mutants/run-mutants.ts';
import type { Explored } from './search/explore.ts';
import type { Total } from './search/seeds.ts';
import type { SmallWorld } from './small-worlds.ts';
import { PROMISES } from './world/promises.ts';

/** The document that says what was searched. Each part stands between two marks: `<!-- simulate: worlds -->` and `<!-- end -->`. */
const DOCUMENT = join(import.meta.dirname, '../../docs/internals/reliability.md');

const whole = (count: number) => Math.round(count).toLocaleString('en-US');
const row = (cells: readonly (string | number)[]) =>
  `| ${cells.map((cell) => (typeof cell === 'number' ? whole(cell) : cell.replaceAll('|', '\\|'))).join(' | ')} |`;
const table = (heads: readonly string[], rows: readonly (readonly (string | number)[])[]) =>
  [row(heads), row(heads.map(() => '---')), ...rows.map(row)].join('\n');
const today = () => new Date().toISOString().slice(0, 10);

/** Puts a text into its place in the document. */
export async function putIntoDocument(part: 'worlds' | 'seeds' | 'mutants', text: string): Promise<void> {
  const document = await readFile(DOCUMENT, 'utf8');
  const begin = document.indexOf(`<!-- simulate: ${part} -->\n`);
  const end = document.indexOf('<!-- end -->', begin);
  if (begin < 0 || end < 0) throw new Error(`${DOCUMENT} has no place for ${part}`);
  const head = document.slice(0, document.indexOf('\n', begin) + 1);
  await writeFile(DOCUMENT, `${head}\n${text}\n\n${document.slice(end)}`);
}

export type Searched = { world: SmallWorld; found: Explored };

/** What was searched of the small worlds: a line for all with the same parts and the same bounds. */
export function tellWorlds(searched: readonly Searched[], schedules: number): string {
  const groups = Map.groupBy(searched, ({ world: { name, bounds } }) => {
    const faults = bounds.faults === 0 ? 'no fault' : bounds.faults === 1 ? 'one fault' : `${bounds.faults} faults`;
    return `${name.slice(0, name.indexOf(':'))} | ${bounds.preemptions} and ${faults}`;
  });
  const sum = (group: readonly Searched[], of: 'schedules' | 'states' | 'steps' | 'checked') =>
    group.reduce((total, { found }) => total + found[of], 0);
  const rows = [...groups].map(([key, group]) => {
    const [parts = '', bound = ''] = key.split(' | ');
    const exhausted = group.filter(({ found }) => found.exhausted).length;
    return [
      ...[parts, bound, `${exhausted} of ${group.length}`],
      ...[sum(group, 'schedules'), sum(group, 'states'), sum(group, 'steps'), sum(group, 'checked')],
    ];
  });
  const left = searched.filter(({ found }) => !found.exhausted).map(({ world }) => world.name);
  const broken = searched.filter(({ found }) => found.failure !== undefined).map(({ world }) => world.name);
  return [
    table(
      ['Who takes part', 'Preemptions, faults', 'Exhausted', 'Schedules', 'States', 'Steps', 'Promises checked'],
      rows,
    ),
    '',
    `Measured on ${today()}, at most ${whole(schedules)} schedules for each world. ${broken.length === 0 ? 'No promise was broken.' : `Broken: ${broken.join('; ')}.`}`,
    ...(left.length === 0 ? [] : ['', 'Not exhausted within them:', '', ...left.map((name) => `- ${name}`)]),
  ].join('\n');
}

/** What was searched of the large worlds. */
export function tellSeeds(total: Total, { first, seconds }: { first: number; seconds: number }) {
  const checked = Object.entries(total.checked).map(([name, count]) => [
    PROMISES[name as keyof typeof PROMISES],
    count,
  ]);
  return [
    `Measured on ${today()}: ${whole(total.seeds)} seeds from ${first} on, ${whole(total.calls)} executions in ${whole(total.steps)} steps,`,
    `${whole((total.calls * total.runsOfEach) / seconds)} executions a second on one core. ${total.runsOfEach === 2 ? 'Each seed ran twice, with equal traces. ' : ''}${total.failures.length === 0 ? 'No promise was broken.' : `Broken by seed ${total.failures.map(({ seed }) => seed).join(', ')}.`}`,
    '',
    table(['Promise', 'Checked'], checked),
  ].join('\n');
}

/** What a promise says of itself may quote whole files. */
const shortened = (text: string) => (text.length > 120 ? `${text.slice(0, 119)}…` : text);

/** Which guards were taken out, and how that was noticed. */
export function tellMutants(tried: readonly Caught[]): string {
  const rows = tried.map(({ mutant, caught, schedule, seconds }) => [
    mutant.name,
    mutant.world.startsWith('seeds') ? 'a large world' : mutant.world,
    schedule,
    caught === undefined ? '**not noticed**' : shortened(caught.replace(/^seed \d+: /, '')),
    seconds.toFixed(1),
  ]);
  return [
    `Measured on ${today()}: ${tried.filter(({ caught }) => caught !== undefined).length} of ${tried.length} were noticed. *Schedule*: where it is not the usual one, by the number of the step; or the seed.`,
    '',
    table(['Guard that was taken out', 'World', 'Schedule', 'Noticed by', 'Seconds'], rows),
  ].join('\n');
}
