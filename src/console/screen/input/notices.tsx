import { useEffect, useRef } from 'react';
import { compactJson } from '../../../shared/json-tree/print-json.ts';
import { diffJson } from '../../json/diff-json.ts';
import type { Reading } from '../../run/reading.ts';
import { warningWords } from '../../text/service-words.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { useAnnounce } from '../../ui/announce.tsx';
import { NoticeLines } from '../../ui/notice-lines.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import type { Run } from '../result/use-run.ts';

const MAX_ENTRIES = 4;

/** The reservations about the picture: other versions, lost digits, entries without a place, warnings. */
export function Notices({ run, rule }: { run: Run; rule: RuleContext }) {
  const { say } = useText();
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
  const lines = [...lost, ...(reading ? noticesOf(reading, { rule, say }) : [])];
  return <NoticeLines className="notices" lines={lines} />;
}

function noticesOf(reading: Reading, { rule, say }: { rule: RuleContext; say: Say }): string[] {
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
    ...record.warnings.map((warning) => warningWords(warning, { record, occurrences: rule.occurrences }, say)),
  ];
}

function namesOf(entries: readonly { id: string; name: string }[]): string {
  const names = entries.slice(0, MAX_ENTRIES).map(({ id, name }) => `#${id} ${name}`);
  return entries.length > MAX_ENTRIES ? `${names.join(', ')}, …` : names.join(', ');
}
