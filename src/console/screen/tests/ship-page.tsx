import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { format } from '../../../shared/reasoning/words/format.ts';
import { readinessEnglish } from '../../../shared/reasoning/words/readiness-english.ts';
import type { Client } from '../../api/browse.ts';
import { getReadiness, type RuleReadiness } from '../../api/readiness.ts';
import { failureOf } from '../../api/request.ts';
import { targetsOf } from '../../run/candidates.ts';
import { type Place, toPage } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import { PlaceLink } from '../../ui/place-link.tsx';
import { targetWords } from '../input/target-words.ts';
import { findingsZh } from './findings-zh.ts';

const EVERY_MS = 10_000;
const looks = { 'can-ship': 'true', 'cannot-ship': 'error', 'not-tested': 'none' } as const;

/** Whether the rules of an app can be released to a target, and why not. Nothing runs. */
export function ShipPage({ place, clients }: { place: Place; clients: readonly Client[] }) {
  const { say } = useText();
  const targets = targetsOf(clients);
  const [target, setTarget] = useState(targets[1] ?? 'all');
  const { app } = place;
  const asked = useQuery({
    queryKey: ['readiness', app, target],
    queryFn: ({ signal }) => getReadiness(app ?? '', target, signal),
    enabled: app !== null,
    refetchInterval: EVERY_MS,
  });
  const rules = asked.data ?? [];
  const ready = rules.filter(({ state }) => state === 'can-ship').length;
  return (
    <div className="release">
      <div className="results-tools">
        <label>
          {say('release.target')}{' '}
          <select value={target} onChange={(event) => setTarget(event.target.value)}>
            {targets.map((one) => (
              <option key={one} value={one}>
                {targetWords(one, say)}
              </option>
            ))}
          </select>
        </label>
        {asked.data && (
          <span role="status" className="muted">
            {say('release.count', { ready, n: rules.length })}
          </span>
        )}
        {asked.isPending && <span className="muted">{say('release.looking')}</span>}
      </div>
      {asked.error && <p className="notice warn">{say('release.failed', { error: failureOf(asked.error) })}</p>}
      {rules.length > 0 && (
        <div className="results" tabIndex={0} role="region" aria-label={say('release.title')}>
          <table className="release-table">
            <thead>
              <tr>
                <th scope="col">{say('release.rule')}</th>
                <th scope="col">{say('release.state')}</th>
                <th scope="col">{say('release.why')}</th>
              </tr>
            </thead>
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
  const { say, language } = useText();
  const sentences = language === 'zh' ? findingsZh : readinessEnglish;
  const to = {
    ...toPage('tests'),
    ...{ ruleId, confId: null, ts: null, run: null, input: null, batch: batchId },
  };
  return (
    <tr>
      <th scope="row">
        <PlaceLink className="row-link" title={say('release.open')} to={to}>
          {name ?? say('release.noName')} #{ruleId}
        </PlaceLink>
      </th>
      <td>
        <span className={`chip ${looks[state]}`}>{say(`release.${state}`)}</span>
      </td>
      <td>
        <ul>
          {findings.map(({ code, message, parameters }) => (
            <li key={message}>
              {code === null ? message : format(sentences[code], { ...parameters, target: targetWords(target, say) })}
            </li>
          ))}
        </ul>
      </td>
    </tr>
  );
}
