import { useEffect, useRef } from 'react';
import { memberOf } from '../../../shared/json-tree/members.ts';
import { compactJson } from '../../../shared/json-tree/print-json.ts';
import type { Json } from '../../../shared/json-tree/read-json.ts';
import { changesBetween, changeWords } from '../../../shared/reasoning/changes.ts';
import { shortened } from '../../../shared/reasoning/words/fact-words.ts';
import { diffJson } from '../../json/diff-json.ts';
import type { FormChange } from '../../run/form.ts';
import { nodesOfDryRun, type Reading, versionRan } from '../../run/reading.ts';
import { useIsDry } from '../../state/preferences.ts';
import { failureOfWarning } from '../../text/service-words.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { NoticeLines, useAnnounce } from '../../ui/announce.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import type { OfRun, RuleContext } from '../frame/use-rule.ts';
import { targetWords } from '../input/target.tsx';
import type { Run } from './use-run.ts';

const MAX_NAMED = 4;

/** Says that the form is not what the run on the screen was, and what differs: the result below is not of this input. */
export function FormChanges({ changes, onBack }: { changes: readonly FormChange[]; onBack: () => void }) {
  const { say } = useText();
  const words = useChangeWords();
  if (changes.length === 0) return null;
  const more = changes.length - MAX_NAMED;
  return (
    <p className="notice warn since">
      <Icon name="warning" size={14} />
      <span>
        <b>{say('since.title')}</b>{' '}
        {changes
          .slice(0, MAX_NAMED)
          .map((change) => words(change))
          .join(' · ')}
        {more > 0 && ` ${say('since.more', { n: more })}`}
      </span>
      <Button label={say('since.back')} className="quiet" onPress={onBack} />
    </p>
  );
}

function useChangeWords(): (change: FormChange) => string {
  const { say, ...text } = useText();
  const value = (json: Json | null) => (json ? shortened(compactJson(json)) : say('input.omitted'));
  const moment = (ts: string | null) => (ts === null ? say('asOf.now') : text.moment(ts));
  return (change) => {
    switch (change.kind) {
      case 'value': {
        const { path, before, after } = change.change;
        return say('since.value', { key: path, before: value(before), after: value(after) });
      }
      case 'unreadable':
        return say('since.unreadable');
      case 'as-of':
        return say('since.asOf', { before: moment(change.before), after: moment(change.after) });
      case 'target':
        return say('since.target', { before: targetWords(change.before, say), after: targetWords(change.after, say) });
    }
  };
}

const KINDS = ['assumed', 'stubbed', 'unsure'] as const;

/** The reservations about a dry run: which nodes were not called, and which may have had effects. */
export function DryRunNotice({ run }: { run: Run }) {
  const { say } = useText();
  const { reading } = run;
  const isDry = reading?.execution.record.dryRun === true && memberOf(reading.result?.root, 'effects') !== undefined;
  const nodes = (kind: (typeof KINDS)[number]) => (reading ? nodesOfDryRun(reading, kind) : []);
  const told = KINDS.filter((kind) => nodes(kind).length > 0).map((kind) =>
    say(`dry.told.${kind}`, { nodes: nodes(kind).join(', ') }),
  );
  const without = nodes('unsure').length === 0 ? [say('dry.told.without')] : [];
  return (
    <NoticeLines className="dry-run-notice" lines={isDry ? [[say('dry.told'), ...without, ...told].join(' ')] : []} />
  );
}

type Props = { rule: RuleContext & { ofRun: OfRun }; onAgain: () => void };

/** The reservations about the rules of a run. */
export function RulesNotice({ rule, onAgain }: Props) {
  const { say } = useText();
  const { ofRun } = rule;
  const isDry = useIsDry(rule.app) || ('record' in ofRun && ofRun.record.dryRun);
  return (
    <>
      <NoticeLines className="rules-notice" lines={linesOf(rule, say)} />
      {ofRun.kind === 'older' && (
        <Button
          label={say(isDry ? 'rules.older.again.dry' : 'rules.older.again')}
          className={isDry ? 'button dry' : 'button'}
          onPress={onAgain}
        />
      )}
    </>
  );
}

function linesOf({ ofRun, tree }: RuleContext & { ofRun: OfRun }, say: Say): string[] {
  if (!('record' in ofRun)) return ofRun.kind === 'checking' ? [say('rules.checking')] : [];
  const { address, rules } = ofRun.record;
  const { released = null, loaded = null } = rules ?? {};
  const client = address ?? '';
  if (ofRun.kind === 'unavailable') return [say('rules.unavailable', { error: ofRun.error })];
  if (ofRun.kind !== 'older')
    return [say(`rules.${ofRun.kind}`, { client, loaded: loaded ?? '', released: released ?? '' })];
  const changes = tree.data && ofRun.tree ? changesBetween(tree.data, ofRun.tree) : [];
  const since =
    changes.length === 0 ? '' : ` ${say('rules.changed', { n: changes.length, nodes: changeWords(changes, say) })}`;
  // The version of the tree that is shown, not of the list of rules: that is polled on its own.
  const [ran, now] = [versionRan(rules), ofRun.tree?.version ?? null];
  if (ran === null || now === null || ran === now) return [`${say('rules.edited')}${since}`];
  if (BigInt(ran) > BigInt(now)) return [`${say('rules.newer', { ran, now })}${since}`];
  const isBehind = released !== null && BigInt(ran) < BigInt(released);
  const behind = isBehind ? [say('rules.behind', { released, client })] : [];
  return [`${say('rules.older', { ran, now })}${since}`, ...behind];
}

const MAX_ENTRIES = 4;

/** The reservations about the picture: other versions, lost digits, entries without a place, warnings. */
export function Notices({ run, rule }: { run: Run; rule: RuleContext }) {
  const { say, ofService } = useText();
  const announce = useAnnounce();
  const { followed, reading } = run;
  const isLost = followed?.kind === 'open' && followed.connection.kind !== 'live';
  const wasLost = useRef(false);
  useEffect(() => {
    if (wasLost.current && !isLost && followed?.kind === 'open') announce(say('state.resumed'));
    wasLost.current = isLost;
  }, [isLost, followed, announce, say]);
  const isPolling = followed?.kind === 'open' && followed.connection.kind === 'polling';
  const lost = isPolling ? [say('state.polling')] : [];
  const lines = [...lost, ...(reading ? noticesOf(reading, { rule, say, ofService }) : [])];
  return <NoticeLines className="notices" lines={lines} />;
}

function noticesOf(
  reading: Reading,
  { rule, say, ofService }: { rule: RuleContext } & Pick<ReturnType<typeof useText>, 'say' | 'ofService'>,
): string[] {
  const { record, masked } = reading.execution;
  const rounded =
    reading.before && reading.after
      ? diffJson(reading.before, reading.after).changes.filter(({ kind }) => kind === 'rounded')
      : [];
  const [first] = rounded;
  const { unplaced } = reading.replay;
  return [
    ...(first?.before && first.after
      ? [
          `${say('notice.rounded', { n: rounded.length, path: first.path, before: compactJson(first.before), after: compactJson(first.after) })} ${say('notice.rounded.hint')}`,
        ]
      : []),
    ...(unplaced.length > 0 && rule.occurrences.length > 0
      ? [say('notice.unplaced', { n: unplaced.length, entries: namesOf(unplaced) })]
      : []),
    ...(masked.length > 0 ? [say('notice.masked', { paths: masked.join(', ') })] : []),
    ...(reading.rest !== '' ? [say('notice.rest', { text: reading.rest.slice(0, 80) })] : []),
    ...record.warnings.map((warning) => ofService(failureOfWarning(warning))),
  ];
}

function namesOf(entries: readonly { id: string; name: string }[]): string {
  const names = entries.slice(0, MAX_ENTRIES).map(({ id, name }) => `#${id} ${name}`);
  return entries.length > MAX_ENTRIES ? `${names.join(', ')}, …` : names.join(', ');
}
