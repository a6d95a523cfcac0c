import { useRef } from 'react';
import type { NodeTrace } from '../../../shared/reasoning/trace/node-trace.ts';
import { nameOf, type Occurrence } from '../../../shared/reasoning/tree.ts';
import type { Reading } from '../../run/reading.ts';
import { formatMs } from '../../text/durations.ts';
import { useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { useWindowedRows } from '../../ui/windowed-rows.ts';

const ROW_HEIGHT = 28;
/** A bar of no time still has to be seen; percent. */
const MIN_WIDTH = 0.6;

type Props = { reading: Reading; chosen: Occurrence | null; onChoose: (occurrence: Occurrence) => void };

/** When each node ran: nodes that ran in parallel have bars over the same time. */
export function TimelineView({ reading, chosen, onChoose }: Props) {
  const { say } = useText();
  const box = useRef<HTMLDivElement>(null);
  const timeline = timelineOf(reading.replay.nodeTraces);
  const bars = timeline?.bars ?? [];
  const { first, last, above, total } = useWindowedRows(box, { count: bars.length, rowHeight: ROW_HEIGHT });
  if (timeline === null) return <p className="empty-line">{say('timeline.none')}</p>;
  const share = (ms: number) => (timeline.span === 0 ? 0 : (ms / timeline.span) * 100);
  return (
    <div className="timeline" ref={box}>
      <p className="timeline-head muted">{say('timeline.span', { time: formatMs(timeline.span), n: bars.length })}</p>
      <ol aria-label={say('details.timeline')} style={{ height: total, paddingTop: above }}>
        {bars.slice(first, last).map(({ occurrence, nodeTrace, start, ms }) => (
          <li key={occurrence.index} className={occurrence === chosen ? 'active' : ''}>
            <Button
              className=""
              title={say('timeline.bar', {
                node: `${nameOf(occurrence.node)} #${occurrence.node.id}`,
                start: formatMs(start),
                time: formatMs(ms),
              })}
              onPress={() => onChoose(occurrence)}
            >
              <span className="cut">
                {nameOf(occurrence.node)} <span className="node-id">#{occurrence.node.id}</span>
              </span>
              <span className="facts">{formatMs(ms)}</span>
              <i
                className={
                  nodeTrace.outcome === 'ERROR' ? 'bar error' : occurrence.children.length > 0 ? 'bar whole' : 'bar'
                }
                style={{
                  insetInlineStart: `${Math.min(share(start), 100 - MIN_WIDTH)}%`,
                  width: `${Math.max(share(ms), MIN_WIDTH)}%`,
                }}
              />
            </Button>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** A node that ran, as a bar: ms since the run began, and how long it took with everything below it. */
type Bar = { occurrence: Occurrence; nodeTrace: NodeTrace; start: number; ms: number };

/** The nodes that ran in the order in which they began, and the ms that all of them span; null where the trace has no times. */
function timelineOf(nodeTraces: ReadonlyMap<Occurrence, NodeTrace>): { bars: Bar[]; span: number } | null {
  const bars: Bar[] = [];
  for (const [occurrence, nodeTrace] of nodeTraces) {
    if (nodeTrace.start === null || nodeTrace.ms === null) continue;
    if (nodeTrace.outcome !== 'OUT_OF_TIME' && nodeTrace.outcome !== 'LEFT_OUT')
      bars.push({ occurrence, nodeTrace, start: nodeTrace.start, ms: nodeTrace.ms });
  }
  if (bars.length === 0) return null;
  bars.sort((a, b) => a.start - b.start || a.occurrence.index - b.occurrence.index);
  return { bars, span: Math.max(...bars.map(({ start, ms }) => start + ms)) };
}
