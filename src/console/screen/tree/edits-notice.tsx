import { changeWords, type NodeChange } from '../../../shared/reasoning/changes.ts';
import { useBatches, useCoverage } from '../../cases/use-batches.ts';
import type { Place } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import { Icon } from '../../ui/icon.tsx';

/** Names the edits of a rule that are not released yet, and how many of its cases reach them. */
export function EditsNotice({ place, edits }: { place: Place; edits: readonly NodeChange[] }) {
  const { say } = useText();
  const last = useBatches(place).data?.find(({ etag, state }) => etag !== null && state === 'finished') ?? null;
  const coverage = useCoverage(last, null).data ?? null;
  const counts = edits.map(({ id }) => `#${id} ${coverage?.nodes.get(id) ?? 0}`).join(', ');
  return (
    <p className="notice edits">
      <Icon name="clock" size={14} />
      <span>
        {say('tree.edits', { n: edits.length, nodes: changeWords(edits, say) })}
        {coverage && ` ${say('tree.edits.reached', { n: coverage.cases, counts })}`}
      </span>
    </p>
  );
}
