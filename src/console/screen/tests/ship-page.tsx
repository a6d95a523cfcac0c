import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { FindingCode } from '../../../shared/contract/readiness.ts';
import { format } from '../../../shared/reasoning/words/format.ts';
import { readinessEnglish } from '../../../shared/reasoning/words/readiness-english.ts';
import { listBatches } from '../../api/batches.ts';
import { type Client, getReadiness, type RuleReadiness } from '../../api/browse.ts';
import { noFailure } from '../../api/request.ts';
import { targetsOf } from '../../run/calls.ts';
import { type Place, toPage } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import { PlaceLink } from '../../ui/place-link.tsx';
import { Select } from '../../ui/select.tsx';
import { TableHead } from '../../ui/table-head.tsx';
import { targetWords } from '../input/target.tsx';

const EVERY_MS = 10_000;
const looks = { 'can-ship': 'true', 'cannot-ship': 'error', 'not-tested': 'none' } as const;

/** Whether the rules of an app can be released to a target, and why not. Nothing runs. */
export function ShipPage({ place, clients }: { place: Place; clients: readonly Client[] }) {
  const { say, failed } = useText();
  const targets = targetsOf(clients);
  const [chosen, setTarget] = useState<string | null>(null);
  const { app } = place;
  const batches = useQuery({
    queryKey: ['batches', app],
    queryFn: ({ signal }) => listBatches(app ?? '', null, signal),
    enabled: app !== null,
  });
  // Where saved cases ran last.
  const ran = batches.data?.find(({ etag }) => etag !== null)?.targets.map(({ target }) => target) ?? [];
  const target = chosen ?? targets.find((one) => ran.includes(one)) ?? 'all';
  const asked = useQuery({
    queryKey: ['readiness', app, target],
    queryFn: ({ signal }) => getReadiness(app ?? '', target, signal),
    enabled: app !== null && !batches.isPending,
    refetchInterval: EVERY_MS,
  });
  const rules = asked.data ?? [];
  const ready = rules.filter(({ state }) => state === 'can-ship').length;
  return (
    <div className="release fill">
      <div className="results-tools wrap">
        <label>
          {say('release.target')}{' '}
          <Select value={target} options={targets.map((one) => [one, targetWords(one, say)])} onChoose={setTarget} />
        </label>
        {asked.data && (
          <span role="status" className="muted">
            {say('release.count', { ready, n: rules.length })}
          </span>
        )}
        {asked.isPending && <span className="muted">{say('release.looking')}</span>}
      </div>
      {asked.error && <p className="notice warn">{say('release.failed', { error: failed(asked.error) })}</p>}
      {rules.length > 0 && (
        <div className="results" tabIndex={0} role="region" aria-label={say('nav.ship')}>
          <table className="release-table">
            <TableHead columns={[[say('nav.rule')], [say('release.state')], [say('release.why')]]} />
            <tbody>
              {rules.map((rule) => (
                <RuleRow key={rule.ruleId} rule={rule} target={target} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function RuleRow({
  rule: { ruleId, name, state, batchId, findings },
  target,
}: {
  rule: RuleReadiness;
  target: string;
}) {
  const { say, language, ofService } = useText();
  const sentences = language === 'zh' ? findingsZh : readinessEnglish;
  const to = {
    ...toPage('tests'),
    ...{ ruleId, confId: null, ts: null, run: null, input: null, batch: batchId },
  };
  return (
    <tr>
      <th scope="row">
        <PlaceLink className="row-link" title={say('release.open')} to={to}>
          {name ?? say('nav.rule')} #{ruleId}
        </PlaceLink>
      </th>
      <td>
        <span className={`chip ${looks[state]}`}>{say(`release.${state}`)}</span>
      </td>
      <td>
        <ul>
          {findings.map(({ code, message, parameters: { reason = null, ...params } }) => {
            const why = ofService({ ...noFailure, reason, params, error: message });
            const isTold = code === null || (reason !== null && language === 'en');
            const words = { ...params, reason: why, target: targetWords(target, say) };
            return <li key={message}>{isTold ? message : format(sentences[code], words)}</li>;
          })}
        </ul>
      </td>
    </tr>
  );
}

const findingsZh: Record<FindingCode, string> = {
  'no-rule': '这条规则无法运行：{reason}',
  'missing-node': '节点 {node} 没有发布。',
  'unusable-node': '节点 {node} 无法读取：{reason}。',
  circle: '节点 {nodes} 构成了环。',
  'missing-class': '{target}的某个客户端没有类 {class}。',
  'wrong-setting': '节点 {node}：{field} 必须是 {type}，而现在是 {value}。',
  failed: '在{target}上有 {n} 个用例不符。',
  unanswered: '在{target}上有 {n} 个用例无应答。',
  'no-cases': '这条规则没有可运行的已保存用例。',
  'never-run': '它的用例还没有在{target}上真实运行过（就保留的批次而言）。',
  'other-rules': '它的用例上次在{target}上运行时，规则与现在发布的不同。',
  'other-cases': '它的用例上次在{target}上运行之后有改动。',
  'classes-unknown': '{target}没有在线客户端说明自己有哪些类。',
  'rule-over': '这条规则的时间窗已经过去。',
  'node-over': '节点 {node} 的时间窗已经过去：按 NONE 计。',
  'nothing-expected': '它的用例没有任何预期。',
  'not-reached': '没有用例运行过节点 {node}。',
  'not-checked': '在{target}上有 {n} 个用例无法判定：轨迹没有说明。',
};
