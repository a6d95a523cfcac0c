import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { getItems, type Item, type WholeItem } from '../../api/batch-items.ts';
import { Changed, type SavedCase } from '../../api/cases.ts';
import { readItemPlace } from '../../cases/case-rows.ts';
import { expectedRows } from '../../cases/proposal.ts';
import { casesOf, useChangeCases, useSavedCases } from '../../cases/saved-cases.ts';
import { useItem } from '../../cases/use-batches.ts';
import { useLacks } from '../../run/queries/use-service.ts';
import { goTo, linkTo, type Place } from '../../state/location.ts';
import { formatMs } from '../../text/durations.ts';
import { failureOfRemark } from '../../text/remarks.ts';
import { useText } from '../../text/use-text.tsx';
import { Loading, useAnnounce } from '../../ui/announce.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { TableHead } from '../../ui/table-head.tsx';
import { OutcomeWord, VerdictChip } from '../../ui/verdict-chip.tsx';
import { targetWords } from '../input/target.tsx';
import type { Run } from '../result/use-run.ts';
import { SaveCase } from './save-case.tsx';

const MAX_COMPARED = 6;

/** The case that is open, beside the tree: what was expected of it against what came, on each target. */
export function CaseView({ place, run }: { place: Place; run: Run }) {
  const { say, failed } = useText();
  const at = readItemPlace(place);
  const item = useItem(at?.batchId ?? null, at?.n ?? null);
  const of = casesOf(place);
  const saved = useSavedCases(of);
  const name = item.data?.name ?? place.caseName ?? '';
  const mine = saved.data?.cases.find((one) => one.name === name) ?? null;
  if (at !== null && item.error) return <p className="notice warn">{failed(item.error)}</p>;
  if (at !== null && !item.data) return <Loading text="loading.case" />;
  return (
    <div className="case-view">
      <div className="case-head line">
        <h2>{name}</h2>
        <CopyButton icon="link" label={say('case.link')} done={say('link.copied')} text={() => linkTo(place)} quiet />
      </div>
      {item.data && at && <CaseResult item={item.data} batchId={at.batchId} />}
      {!item.data && mine && (
        <Expectation rows={expectedRows({ expect: mine.expect, differences: [], ignore: [] })} judged={false} />
      )}
      <CaseActions key={name} place={place} run={run} saved={mine} etag={saved.data?.etag ?? null} />
    </div>
  );
}

function CaseResult({ item, batchId }: { item: WholeItem; batchId: string }) {
  const { say, ofService } = useText();
  const { verdict, address, tookMs, error, mayHaveRun } = item;
  const judged = verdict !== 'unanswered' && verdict !== 'skipped' && verdict !== 'pending';
  return (
    <>
      <p className="case-end">
        <VerdictChip verdict={verdict} /> <OutcomeWord item={item} /> {targetWords(item.target, say)}
        {address !== null && ` · ${address}`}
        {tookMs !== null && ` · ${formatMs(tookMs)}`}
      </p>
      {error !== null && <p className="notice bad">{ofService(error)}</p>}
      {verdict === 'unanswered' && <p className="muted">{say(mayHaveRun ? 'case.mayHaveRun' : 'case.notRun')}</p>}
      <Expectation rows={expectedRows(item)} judged={judged} />
      <OnEachTarget batchId={batchId} item={item} />
    </>
  );
}

function Expectation({ rows, judged }: { rows: ReturnType<typeof expectedRows>; judged: boolean }) {
  const { say, ofService } = useText();
  if (rows.length === 0) return <p className="muted">{say('case.expectsNothing')}</p>;
  return (
    <table className="diff-table expectation">
      <TableHead
        columns={[[say('case.where')], [say('case.expected')], ...(judged ? [[say('case.actual')] as const] : [])]}
      />
      <tbody>
        {rows.map(({ path, expected, actual, how, ignored }) => (
          <tr key={`${path} ${how}`} className={how === null ? 'held' : 'missed'}>
            <th scope="row">
              <code>{path}</code>
            </th>
            <td>{expected === null ? <small>{say('case.absent')}</small> : <code>{expected}</code>}</td>
            {judged && (
              <td>
                {how === null ? (
                  <small>
                    {ignored.length === 0 ? say('case.held') : say('case.heldBut', { paths: ignored.join(', ') })}
                  </small>
                ) : (
                  <>
                    {actual !== null && <code>{actual} </code>}
                    <small>{ofService(failureOfRemark(how))}</small>
                  </>
                )}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function OnEachTarget({ batchId, item }: { batchId: string; item: WholeItem }) {
  const { say } = useText();
  const siblings = useSiblings(batchId, item);
  if (siblings.length < 2) return null;
  const runs = siblings.flatMap(({ mockId, verdict }) =>
    mockId === null || verdict === 'pending' || verdict === 'skipped' ? [] : [mockId],
  );
  return (
    <>
      <h3>{say('case.targets')}</h3>
      <ul className="case-targets">
        {siblings.map((one) => (
          <li key={one.n} className={one.n === item.n ? 'line current' : 'line'}>
            <span>{targetWords(one.target, say)}</span> <VerdictChip verdict={one.verdict} /> <OutcomeWord item={one} />
          </li>
        ))}
      </ul>
      {runs.length > 1 && (
        <Button
          label={say('case.compare')}
          onPress={() => goTo({ run: null, runs: runs.slice(0, MAX_COMPARED) }, { push: true })}
        />
      )}
    </>
  );
}

/** The items of the same case. Those of one case follow each other, one for each target. */
function useSiblings(batchId: string, { n, name }: WholeItem): Item[] {
  const around = useQuery({
    queryKey: ['siblings', batchId, n],
    queryFn: ({ signal }) => getItems(batchId, { after: Math.max(0, n - 100), limit: 200 }, signal),
  });
  const items = around.data?.items ?? [];
  const firstTarget = items[0] ? items.findIndex((one, index) => index > 0 && one.target === items[0]?.target) : -1;
  const targets = firstTarget > 0 ? firstTarget : items.length;
  const place = Math.floor((n - 1) / Math.max(1, targets));
  return items.filter((one) => one.name === name && Math.floor((one.n - 1) / Math.max(1, targets)) === place);
}

type ActionProps = { place: Place; run: Run; saved: SavedCase | null; etag: string | null };

function CaseActions({ place, run, saved, etag }: ActionProps) {
  const { say, failed } = useText();
  const announce = useAnnounce();
  const changeCases = useChangeCases();
  const [open, setOpen] = useState<'update' | 'remove' | null>(null);
  const of = casesOf(place);
  const cannot = useLacks()('cases');
  if (saved === null || of === null) return <p className="muted">{say('case.notSaved')}</p>;
  if (cannot !== null) return <p className="muted">{cannot}</p>;
  const remove = () => {
    changeCases(of, { etag, remove: saved.name })
      .then(() => announce(say('case.removed', { name: saved.name })))
      .catch((error) => announce(error instanceof Changed ? say('case.changed') : failed(error)));
    setOpen(null);
  };
  if (open === 'update' && run.reading)
    return <SaveCase reading={run.reading} saved={saved} onDone={() => setOpen(null)} />;
  return (
    <div className="line wrap">
      <Button label={say('case.update')} disabled={run.reading === null} onPress={() => setOpen('update')} />
      {open === 'remove' ? (
        <>
          <Button label={say('case.remove.sure')} onPress={remove} />
          <Button label={say('save.cancel')} className="quiet" onPress={() => setOpen(null)} />
        </>
      ) : (
        <Button label={say('case.remove')} className="quiet" onPress={() => setOpen('remove')} />
      )}
    </div>
  );
}
