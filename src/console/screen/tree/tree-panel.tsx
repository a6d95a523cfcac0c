import { type ReactNode, useMemo } from 'react';
import { changesBetween } from '../../../shared/reasoning/changes.ts';
import type { Occurrence } from '../../../shared/reasoning/tree.ts';
import { failureOf, Refused } from '../../api/request.ts';
import type { Place } from '../../state/location.ts';
import { formatMs } from '../../text/durations.ts';
import { failureOfFault } from '../../text/service-words.ts';
import { useText } from '../../text/use-text.tsx';
import { Loading } from '../../ui/announce.tsx';
import { later } from '../../ui/later.tsx';
import { OutcomeChip } from '../../ui/outcome-chip.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import type { Run } from '../result/use-run.ts';
import { TraceTree } from './trace-tree.tsx';

const EditsNotice = later(() => import('./edits-notice.tsx').then(({ EditsNotice }) => EditsNotice));

type Props = {
  place: Place;
  run: Run;
  rule: RuleContext;
  chosen: Occurrence | null;
  onChoose: (occurrence: Occurrence, how: 'pass' | 'press') => void;
};

/** The tree, or why there is none to see. */
export function TreePanel({ place, run, rule, chosen, onChoose }: Props) {
  const { say, ofService } = useText();
  const { app, ruleId, confId } = place;
  const { tree, apps, rules } = rule;
  const [root, edited] = [tree.data?.root ?? null, tree.data?.edited ?? null];
  const edits = useMemo(
    () => (edited === null ? [] : changesBetween({ rule: null, root }, { rule: null, root: edited })),
    [root, edited],
  );
  const editedIds = useMemo(() => new Set(edits.map(({ id }) => id)), [edits]);
  if (app === null) {
    if (apps.isPending) return <Loading text="loading.page" />;
    if (apps.error) return <Empty title={say('failed.unreachable')} text={say('failed.askedAgain')} />;
    return null;
  }
  if (ruleId === null && confId === null) {
    if (rules.isPending) return <Loading text="loading.rules" />;
    const none = rules.data?.rules.length === 0;
    return (
      <Empty title={say('empty.rule.title')} text={none ? say('empty.rules.text', { app }) : say('empty.rule.text')} />
    );
  }
  if (tree.isPending) return <Loading text="loading.tree" />;
  if (tree.error instanceof Refused && tree.error.status === 404 && (rules.data?.rules.length ?? 0) > 0) {
    const isRule = ruleId !== null && confId === null;
    const title = isRule ? say('empty.unknownRule.title', { app, rule: ruleId }) : ofService(failureOf(tree.error));
    return (
      <Empty title={title} text={isRule ? say('empty.unknownRule.text') : ''}>
        <FlatTrace run={run} />
      </Empty>
    );
  }
  if (tree.error) {
    const known = tree.error instanceof Refused && tree.error.status === 404;
    const text = known ? say('empty.tree.noRules', { app }) : say('failed.refused', { error: failureOf(tree.error) });
    return (
      <Empty title={say('empty.tree.title')} text={text}>
        <FlatTrace run={run} />
      </Empty>
    );
  }
  if (rule.occurrences.length === 0) return <Empty title={say('empty.tree.title')} text={say('empty.tree.noRoot')} />;
  return (
    <>
      {tree.data?.cycle && (
        <p className="notice warn">
          {say('empty.tree.cycle', { ids: tree.data.cycle.map((id) => `#${id}`).join(', ') })}
        </p>
      )}
      {tree.data?.rule?.problems.map((problem) => (
        <p className="notice warn" key={problem.message}>
          {ofService(failureOfFault(problem))}
        </p>
      ))}
      {edits.length > 0 && <EditsNotice place={place} edits={edits} />}
      <TraceTree
        occurrences={rule.occurrences}
        edited={editedIds}
        reading={run.shown}
        stale={run.reading === null && run.shown !== null}
        chosen={chosen}
        onChoose={onChoose}
      />
    </>
  );
}

function Empty({ title, text, children }: { title: string; text: string; children?: ReactNode }) {
  return (
    <div className="empty muted">
      <h2>{title}</h2>
      <p>{text}</p>
      {children}
    </div>
  );
}

function FlatTrace({ run }: { run: Run }) {
  const { say } = useText();
  const entries = run.shown?.replay.unplaced ?? [];
  if (entries.length === 0) return null;
  return (
    <ol className="flat-trace" aria-label={say('trace.list')}>
      {entries.map(({ id, name, nodeTrace }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
        <li key={index}>
          <span className="node-name">{name}</span> <span className="node-id">#{id}</span>{' '}
          <OutcomeChip outcome={nodeTrace.outcome} /> {nodeTrace.ms !== null && formatMs(nodeTrace.ms)}
        </li>
      ))}
    </ol>
  );
}
