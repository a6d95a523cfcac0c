import { describe, it } from 'vitest';
import { type Expectation, fires, isSilent, type Series, testAlerts } from '../support/promtool.ts';
import { hasPrometheus } from '../support/start-prometheus.ts';

/** How the series of two deployments in one Prometheus differ, whoever scrapes them. */
const labelsOf = (name: string) => `namespace="${name}",deployment="${name}"`;
const [ORDERS, OTHERS] = [labelsOf('orders'), labelsOf('others')];
const TIMES = 80;

const CASES: { name: string; input: Series[]; expected: Expectation[] }[] = [
  {
    name: 'one that is full beside an idle one: RuleServerFull',
    input: [
      ...workersOf(ORDERS, { waiting: 1000, active: 2000, capacity: 2000, taking: 1 }),
      ...workersOf(OTHERS, { waiting: 0, active: 0, capacity: 6000, taking: 1 }),
    ],
    expected: onlyOrders('RuleServerFull', '10m'),
  },
  {
    name: 'one without workers beside a living one: RuleServerNoWorker',
    input: [
      gauge('workers', ORDERS, 0),
      gauge('queue_waiting', ORDERS, 0),
      ...workersOf(OTHERS, { waiting: 0, active: 0, capacity: 2000, taking: 1 }),
    ],
    expected: onlyOrders('RuleServerNoWorker', '10m'),
  },
  {
    name: 'one whose worker takes no jobs beside a living one: RuleServerNoWorker',
    input: [
      ...workersOf(ORDERS, { waiting: 0, active: 0, capacity: 2000, taking: 0 }),
      ...workersOf(OTHERS, { waiting: 0, active: 0, capacity: 2000, taking: 1 }),
    ],
    expected: onlyOrders('RuleServerNoWorker', '10m'),
  },
  {
    name: 'one without clients beside one with some: RuleServerNoClient',
    input: [gauge('clients', `${ORDERS},state="online"`, 0), gauge('clients', `${OTHERS},state="online"`, 5)],
    expected: onlyOrders('RuleServerNoClient', '10m'),
  },
  {
    name: 'one whose requests are not picked up beside a busy one: RuleServerNotPickedUp',
    input: timedOutBesideBusy('not-picked-up'),
    expected: onlyOrders('RuleServerNotPickedUp', '30m'),
  },
  {
    name: 'one whose clients do not answer beside a busy one: RuleServerNoAnswers',
    input: timedOutBesideBusy('no-answer'),
    expected: onlyOrders('RuleServerNoAnswers', '30m'),
  },
  {
    name: 'one whose batches are stuck beside one whose batches run: RuleServerBatchStuck',
    input: [ORDERS, OTHERS].flatMap((of) => [
      gauge('batches_running', of, 1),
      counter('batch_items_total', `${of},verdict="ran"`, of === ORDERS ? 0 : 5),
    ]),
    expected: onlyOrders('RuleServerBatchStuck', '30m'),
  },
  {
    name: 'one whose queue is slow beside a busy one: RuleServerQueueSlow',
    input: [...phase(ORDERS, 'queued', { slow: 10, quick: 0 }), ...phase(OTHERS, 'queued', { slow: 0, quick: 10_000 })],
    expected: onlyOrders('RuleServerQueueSlow', '30m'),
  },
  {
    name: 'one that notices answers late beside a busy one: RuleServerNoticingSlow',
    input: [
      ...phase(ORDERS, 'noticing', { slow: 10, quick: 0 }),
      ...phase(OTHERS, 'noticing', { slow: 0, quick: 10_000 }),
    ],
    expected: onlyOrders('RuleServerNoticingSlow', '30m'),
  },
];

describe.skipIf(!(await hasPrometheus()))('two deployments in one Prometheus (needs Prometheus)', () => {
  it.each(CASES)('$name', ({ input, expected }) => testAlerts(input, expected));
});

/** Half of the executions of one deployment time out; the other one is busy, and answers all. */
function timedOutBesideBusy(code: string): Series[] {
  return [
    ended(ORDERS, 'succeeded', 'answered', 1),
    ended(ORDERS, 'timed-out', code, 1),
    ended(OTHERS, 'succeeded', 'answered', 1000),
  ];
}

function onlyOrders(alert: string, at: string): Expectation[] {
  return [fires(alert, at, 'orders'), isSilent(alert, at, 'others')];
}

function gauge(name: string, labels: string, value: number): Series {
  return { series: `rule_server_${name}{${labels},instance="one"}`, values: `${value}x${TIMES}` };
}

function counter(name: string, labels: string, each: number): Series {
  return { series: `rule_server_${name}{${labels},instance="one"}`, values: `0+${each}x${TIMES}` };
}

function ended(of: string, state: string, code: string, each: number): Series {
  return counter('executions_total', `${of},state="${state}",code="${code}"`, each);
}

type Load = { waiting: number; active: number; capacity: number; taking: number };

function workersOf(of: string, { waiting, active, capacity, taking }: Load): Series[] {
  return [
    gauge('queue_waiting', of, waiting),
    gauge('queue_active', of, active),
    gauge('worker_capacity', of, capacity),
    gauge('worker_takes_jobs', of, taking),
    gauge('workers', of, taking),
  ];
}

function phase(of: string, name: string, { slow, quick }: { slow: number; quick: number }): Series[] {
  const upTo = (le: string, each: number) =>
    counter('execution_phase_seconds_bucket', `${of},phase="${name}",le="${le}"`, each);
  return [upTo('0.5', quick), upTo('5', quick + slow), upTo('+Inf', quick + slow)];
}
