// `node bench/apis.ts`: how many calls a second as many callers make at one API, and spread over four, in turns. One worker.
import { tellFailures, tellMeasured } from './findings.ts';
import { median } from './median.ts';
import { startMachine } from './scale-machine.ts';
import { measureWindow, type Window } from './scale-window.ts';

const [ONE, FOUR] = [1, 4];
const CALLERS = 100;
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const ROUNDS = 4;

const machine = await startMachine(FOUR, 1);
try {
  for (const apis of [ONE, FOUR]) await window(apis); // until the compiler has seen the code often enough
  const rounds: { one: Window; four: Window }[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push({ one: await window(ONE), four: await window(FOUR) });
  report(rounds);
} finally {
  await machine.end();
}

async function window(apis: number): Promise<Window> {
  const measured = await measureWindow(machine, { apis, workers: 1, callers: CALLERS, seconds: SECONDS });
  const failures = tellFailures(`${apis} APIs`, measured);
  if (measured.failed > 0) console.log(`  ${apis} APIs: ${failures}`);
  return measured;
}

function report(rounds: readonly { one: Window; four: Window }[]): void {
  const share = median(rounds.map(({ one, four }) => four.perSecond / one.perSecond)) * 100;
  const [one, four] = (['one', 'four'] as const).map((which) => median(rounds.map((round) => round[which].perSecond)));
  const rates = `${four?.toFixed(0)} and ${one?.toFixed(0)} calls/s`;
  console.log(
    `${CALLERS} callers at four APIs and at one: ${rates}, ${share.toFixed(0)} % (median of ${ROUNDS} turns)`,
  );
  tellMeasured('fourApis', share, rates);
}
