import { lazy, Suspense } from 'react';
import type { Occurrence } from '../../../shared/reasoning/tree.ts';
import type { Place } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Loading } from '../frame/loading.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import type { Input } from '../input/use-input.ts';
import type { Run } from '../result/use-run.ts';
import { ChangesView, withoutData } from './changes-view.tsx';
import { NodeView } from './node-view.tsx';

const CaseView = lazy(() => import('../tests/case-view.tsx').then(({ CaseView }) => ({ default: CaseView })));
const TimelineView = lazy(() => import('./timeline-view.tsx').then(({ TimelineView }) => ({ default: TimelineView })));
const RawView = lazy(() => import('./raw-view.tsx').then(({ RawView }) => ({ default: RawView })));

export type Detail = 'changes' | 'output' | 'node' | 'timeline' | 'raw' | 'case';

type Props = {
  place: Place;
  run: Run;
  rule: RuleContext;
  input: Input;
  chosen: Occurrence | null;
  detail: Detail;
  onDetail: (detail: Detail) => void;
  onChoose: (occurrence: Occurrence) => void;
};

/** The changes of a run, its data, one node, and everything as it was written. */
export function DetailsPanel({ place, run, rule, input, chosen, detail: wanted, onDetail, onChoose }: Props) {
  const { say } = useText();
  const hasCase = place.item !== null || place.caseName !== null;
  const detail = wanted === 'case' && !hasCase ? 'changes' : wanted;
  const reading = run.shown;
  const empty = <p className="empty-line">{say('details.empty')}</p>;
  return (
    <Tabs
      label={say('details.label')}
      tabs={[
        ...(hasCase ? [{ name: 'case', title: say('details.case') } as const] : []),
        { name: 'changes', title: say('details.changes') },
        { name: 'output', title: say('details.output') },
        { name: 'node', title: say('details.node') },
        { name: 'timeline', title: say('details.timeline') },
        { name: 'raw', title: say('details.raw') },
      ]}
      chosen={detail}
      onChoose={onDetail}
    >
      {detail === 'case' && (
        <Suspense fallback={<Loading text="loading.case" />}>
          <CaseView key={`${place.batch} ${place.item} ${place.caseName}`} place={place} run={run} />
        </Suspense>
      )}
      {detail === 'changes' && (reading ? <ChangesView reading={reading} rule={rule} onChoose={onChoose} /> : empty)}
      {detail === 'output' &&
        (reading?.after ? (
          <JsonView json={reading.after} label={say('details.output')} />
        ) : reading ? (
          <p className="empty-line">{say(withoutData(reading))}</p>
        ) : (
          empty
        ))}
      {detail === 'node' && (
        <NodeView occurrence={chosen} occurrences={rule.occurrences} {...{ run, input, onChoose }} />
      )}
      {detail === 'timeline' &&
        (reading ? (
          <Suspense fallback={<Loading text="loading.page" />}>
            <TimelineView {...{ reading, chosen, onChoose }} />
          </Suspense>
        ) : (
          empty
        ))}
      {detail === 'raw' &&
        (reading ? (
          <Suspense fallback={<Loading text="loading.page" />}>
            <RawView reading={reading} />
          </Suspense>
        ) : (
          empty
        ))}
    </Tabs>
  );
}
