import { describe, it } from 'vitest';
import { fires, type Series, seriesIn, testAlerts } from '../support/promtool.ts';
import { hasPrometheus } from '../support/start-prometheus.ts';
import { type Service, startService } from '../support/start-service.ts';

/** Ten minutes of scrapes of a process that has just started; then something happens for the first time. */
const QUIET = 20;
const AFTER = 60;
const ENDED = (state: string, code: string) => `rule_server_executions_total{state="${state}",code="${code}"}`;
const ANSWERED_500 = 'rule_server_http_requests_total{route="/rule-server/mock/execute",method="POST",status="500"}';

const FIRST_EVENTS = [
  { alert: 'RuleServerOutcomeUnknown', at: '11m', series: ENDED('failed', 'outcome-unknown'), times: 1 },
  { alert: 'RuleServerFaults', at: '11m', series: ANSWERED_500, times: 1 },
  { alert: 'RuleServerRefusing', at: '13m', series: ENDED('rejected', 'queue-unavailable'), times: 3 },
  { alert: 'RuleServerRefusing', at: '13m', series: ENDED('rejected', 'no-worker'), times: 1 },
  { alert: 'RuleServerRefusing', at: '13m', series: ENDED('rejected', 'overloaded'), times: 30 },
  { alert: 'RuleServerRefusing', at: '13m', series: ENDED('rejected', 'channel-unavailable'), times: 1 },
  { alert: 'RuleServerNotPickedUp', at: '16m', series: ENDED('timed-out', 'not-picked-up'), times: 5 },
  { alert: 'RuleServerNoAnswers', at: '16m', series: ENDED('timed-out', 'no-answer'), times: 5 },
  { alert: 'RuleServerNoAnswers', at: '16m', series: ENDED('timed-out', 'client-left'), times: 5 },
  { alert: 'RuleServerNoAnswers', at: '16m', series: ENDED('failed', 'invalid-result'), times: 5 },
  { alert: 'RuleServerSweepFindings', at: '11m', series: 'rule_server_sweep_findings_total{what="files"}', times: 21 },
];

describe.skipIf(!(await hasPrometheus()))('the first event after a start (needs Prometheus)', async () => {
  it.each(FIRST_EVENTS)('$alert fires for $times × $series', async ({ alert, at, series, times }) => {
    await using service = await startService();
    await testAlerts(await scrapesOf(service, { series, times }), [fires(alert, at)]);
  });
});

/** What Prometheus has of this service: its series as they are at the start, and one that grows later. */
async function scrapesOf(service: Service, event: { series: string; times: number }): Promise<Series[]> {
  const atStart = seriesIn((await service.call('/metrics')).text);
  const others = [...atStart].filter(([series, value]) => series !== event.series && Number.isFinite(value));
  const before = atStart.get(event.series);
  const quiet = before === undefined ? `_x${QUIET}` : `${before}x${QUIET}`;
  return [
    ...others.map(([series, value]) => ({ series, values: `${value}x${QUIET + AFTER}` })),
    { series: event.series, values: `${quiet} ${(before ?? 0) + event.times}x${AFTER}` },
  ];
}
