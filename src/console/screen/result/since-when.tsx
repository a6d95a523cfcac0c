import { useId, useState } from 'react';
import { createOutcomeOn, searchSince, versionOf, versionsFrom } from '../../../shared/reasoning/what-if/since.ts';
import { howFound, sinceLines, versionLine } from '../../../shared/reasoning/words/since-words.ts';
import { getVersions } from '../../api/browse.ts';
import { Refused } from '../../api/request.ts';
import { type Reading, versionRan } from '../../run/reading.ts';
import { useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import type { OfRun, RuleContext } from '../frame/use-rule.ts';

type Props = { reading: Reading; rule: RuleContext & { ofRun: OfRun } };

/** Since which version its rule decides as this run did, and what any one version would have said: computed, nothing runs. */
export function SinceWhen({ reading, rule }: Props) {
  const { say, failed } = useText();
  const id = useId();
  const [told, setTold] = useState<readonly string[]>([]);
  const [isAsking, setIsAsking] = useState(false);
  const [wanted, setWanted] = useState('');
  const run = sinceOf({ reading, rule });
  if (run === null) return null;
  const { app, ruleId, confId, address } = reading.execution.record;
  const read = (version: string) => getVersions({ app: String(app), ruleId, confId, lane: null, address, version });
  const ask = (find: () => Promise<string[]>) => {
    setIsAsking(true);
    find()
      .catch((error) => [failed(error)])
      .then(setTold)
      .finally(() => setIsAsking(false));
  };
  const since = async () => {
    const earlier = (newest: string) => versionsFrom(newest, (version) => read(version).catch(notThere));
    const found = await searchSince(reading.toChange, run, { versionsFrom: earlier });
    return found === null ? [say('sinceWhen.not')] : sinceLines(found, say);
  };
  const onVersion = async () => {
    const { value: version = run.newest } = await versionsFrom(wanted, read).next();
    const looked = { ...createOutcomeOn(reading.toChange)(version), ...version };
    return [versionLine(looked, say), howFound([looked], say)];
  };
  return (
    <div className="since-when">
      <Button
        label={say('sinceWhen.ask')}
        className="quiet"
        blocked={isAsking}
        onPress={() => isAsking || ask(since)}
      />
      {(told.length > 0 || isAsking) && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (!isAsking && wanted !== '') ask(onVersion);
          }}
        >
          <div role="status">
            {isAsking ? <p>{say('sinceWhen.asking')}</p> : told.map((line) => <p key={line}>{line}</p>)}
          </div>
          <label htmlFor={id}>{say('sinceWhen.which')}</label>{' '}
          <input
            id={id}
            inputMode="numeric"
            size={6}
            value={wanted}
            onChange={({ target }) => setWanted(target.value.replace(/\D/g, ''))}
          />{' '}
          <Button label={say('sinceWhen.compute')} className="quiet" blocked={isAsking || wanted === ''} />
        </form>
      )}
    </div>
  );
}

/** What other versions are compared with; null for a run of which they cannot be told. */
function sinceOf({ reading, rule }: Props) {
  const { decision, execution } = reading;
  const version = versionRan(execution.record.rules);
  const tree = rule.tree.data;
  const isKnown = rule.ofRun.kind === 'same' || rule.ofRun.kind === 'older';
  const isWhole = execution.input !== null && execution.masked.length === 0 && !execution.record.dryRun;
  if (decision === null || version === null || !tree || !isKnown || !isWhole) return null;
  return { outcome: decision, newest: versionOf(tree, version) };
}

/** No longer among the versions that can be read, or without the rule. */
function notThere(error: unknown): null {
  if (error instanceof Refused && error.code === 'unknown-version') return null;
  throw error;
}
