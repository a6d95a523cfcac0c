import { memberOf } from '../../../../shared/json-tree/members.ts';
import { nodesOfDryRun } from '../../../run/reading.ts';
import { useText } from '../../../text/use-text.tsx';
import { NoticeLines } from '../../../ui/notice-lines.tsx';
import type { Run } from '../use-run.ts';

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
