import { namedTarget } from '../../../shared/contract/target.ts';
import { type ExecutionRecord, isEnd } from '../../api/executions.ts';
import { failureOf, Refused, Unreachable } from '../../api/request.ts';
import {
  endedHeadline,
  forgottenHeadline,
  type Headline,
  headlineOf,
  openHeadline,
  refusedHeadline,
} from '../../run/headline.ts';
import { useCaller } from '../../run/queries/use-service.ts';
import type { Place } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import { windowWords } from './time-window-words.ts';
import type { NotBegun, Run } from './use-run.ts';

type Props = { place: Place; run: Run; rule: RuleContext; record: ExecutionRecord | null };

/** How the run on the screen stands, in a sentence and a hint. */
export function useHeadline({ place, run, rule, record }: Props): Headline {
  const { say, time, moment } = useText();
  const { data: caller } = useCaller();
  const { followed, notBegun, reading } = run;
  if (run.sending) return headlineOf('busy', 'state.sending');
  if (notBegun) return notBegunHeadline(notBegun);
  if (place.run === null) return headlineOf('calm', 'state.idle', 'state.idle.hint');
  if (followed?.kind === 'unknown') {
    const client = followed.last === null ? '' : clientOf(followed.last, say('client.any'));
    const isHidden = rule.rules.error instanceof Refused && rule.rules.error.status === 403;
    const hiddenApp = isHidden ? { app: place.app ?? '', name: caller?.name ?? '' } : null;
    return forgottenHeadline(followed.last, { client, inLink: place.input !== null, hiddenApp });
  }
  if (followed?.kind === 'unreachable') return headlineOf('bad', 'failed.unreachable', 'state.unreachable.hint');
  if (!record) return headlineOf('busy', 'state.opening');
  const client = clientOf(record, say('client.any'));
  if (!isEnd(record.state) || !reading) {
    const connection = followed?.kind === 'open' ? followed.connection : { kind: 'live' as const };
    const lostSince = connection.kind === 'lost' ? time(connection.since) : null;
    return openHeadline(record, { client, stopping: run.stopping, lostSince });
  }
  const tree = rule.tree.data ?? null;
  const window = tree?.rule ? windowWords(tree.rule.timeWindow, { say, moment }) : '';
  return endedHeadline(reading, { client, window, tree });
}

function clientOf({ address, target }: ExecutionRecord, any: string): string {
  if (address !== null) return address;
  const wanted = namedTarget(target)?.target;
  return wanted?.kind === 'address' ? wanted.address : any;
}

function notBegunHeadline({ error }: NotBegun): Headline {
  if (error instanceof Unreachable) return headlineOf('bad', 'state.notSent', 'state.notSent.hint');
  return refusedHeadline(failureOf(error), error instanceof Refused && error.status === 401);
}
