import type { Failures, RunSearch } from '../../api/executions.ts';
import { failureOf } from '../../api/request.ts';
import { useFailures } from '../../run/queries/use-failures.ts';
import { goTo, toPage } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import { isPlain, onArrowKeys, PlaceLink } from '../../ui/place-link.tsx';

type Props = { app: string | null; ruleId: string | null; search: RunSearch | null };

/** The failures among the runs, those alike in one row, which opens the newest of them. */
export function FailureGroups(scope: Props) {
  const { say } = useText();
  const { data, error } = useFailures(scope);
  if (error) return <p className="empty-line">{say('history.failed', { error: failureOf(error) })}</p>;
  if (!data) return <p className="empty-line">{say('history.searching')}</p>;
  if (data.groups.length === 0) return <p className="empty-line">{say('failures.none', { n: data.looked })}</p>;
  return (
    <div className="history-list">
      <table onKeyDown={onArrowKeys}>
        <thead>
          <tr>
            <th scope="col" className="number">
              {say('failures.count')}
            </th>
            <th scope="col" className="came-to">
              {say('history.result')}
            </th>
            <th scope="col">{say('failures.sentence')}</th>
            <th scope="col">{say('history.target')}</th>
            <th scope="col">{say('failures.when')}</th>
          </tr>
        </thead>
        <tbody>
          {data.groups.map((group) => (
            <GroupRow key={JSON.stringify([group.code, group.reason, group.sentence])} group={group} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function GroupRow({ group }: { group: Failures }) {
  const { code, count, first, last, mockId, clients } = group;
  const { say, time, ofService } = useText();
  // What differs from one to the next is named by the service in angle brackets.
  const sentence = ofService({ ...group, error: group.sentence, mayHaveRun: null }).replace(/<\w+>/g, '…');
  const to = { ...toPage(null), run: mockId, input: null };
  const [most] = clients;
  const client = most?.address ?? say('failures.noClient');
  return (
    <tr onClick={(event) => isPlain(event) && goTo(to, { push: true })}>
      <td className="number">{count}</td>
      <td>
        <span className="chip error">{code}</span>
      </td>
      <td className="given" title={sentence}>
        <PlaceLink className="row-link" to={to} aria-label={say('failures.open', { sentence: sentence || code })}>
          {sentence || say('failures.silent')}
        </PlaceLink>
      </td>
      <td title={clients.map(({ address, count: n }) => `${address ?? '–'} ${n}`).join('\n')}>
        {clients.length > 1 ? say('failures.clients', { client, n: clients.length - 1 }) : client}
      </td>
      <td>{say('failures.since', { first: time(first), last: time(last) })}</td>
    </tr>
  );
}
