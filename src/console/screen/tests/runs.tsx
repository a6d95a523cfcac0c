import { useEffect, useRef, useState } from 'react';
import { nameOfCase, type RecordedRun, waysOf } from '../../../shared/reasoning/trace/recorded-run.ts';
import type { Parameters, Template } from '../../../shared/reasoning/words/format.ts';
import type { LeftOut } from '../../../shared/reasons/remarks.ts';
import { getCases } from '../../api/cases.ts';
import { everyRun } from '../../api/executions.ts';
import { serviceNow } from '../../api/request.ts';
import { type Recorded, readRecorded, runRecorded } from '../../cases/batch-call.ts';
import { caseText } from '../../cases/proposal.ts';
import { casesOf, useChangeCases } from '../../cases/saved-cases.ts';
import { useStart } from '../../cases/use-batches.ts';
import { targetsOf } from '../../run/calls.ts';
import { type HistoryFilter, noFilter, searchOf } from '../../run/history/history-filter.ts';
import { useLacks } from '../../run/queries/use-service.ts';
import type { Place } from '../../state/location.ts';
import { useZone } from '../../state/preferences.ts';
import { failureOfRemark } from '../../text/remarks.ts';
import { useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/select.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import { TimeSelect } from '../history/history-filters.tsx';
import { BatchHead } from './start-batch.tsx';

const counts = [100, 500, 2000];
const whens = ['asRun', 'now'] as const;

type Props = { place: Place; rule: RuleContext };
type Chosen = { count: number; text: string; time: HistoryFilter['time'] };

/** Chooses earlier runs, reads them, and offers to run their inputs again, or to keep them as cases. */
export function ChosenRuns({ place, rule }: Props) {
  const { failed } = useText();
  const { tell, because } = useReplayWords();
  const [chosen, setChosen] = useState<Chosen>({ count: 500, text: '', time: 'any' });
  const { recorded, progress, error, read } = useRecorded(place, chosen);
  const change = (part: Partial<Chosen>) => setChosen({ ...chosen, ...part });
  const parts = [...(recorded?.leftOut ?? [])].map(([why, n]) => tell('part', { n, why: because(why) }));
  return (
    <div className="replay">
      <p className="muted">{tell('intro')}</p>
      <form
        className="results-tools wrap"
        onSubmit={(event) => {
          event.preventDefault();
          void read();
        }}
      >
        <label>
          {tell('count')}{' '}
          <Select
            value={`${chosen.count}`}
            options={counts.map((count) => [`${count}`, `${count}`])}
            onChoose={(count) => change({ count: Number(count) })}
          />
        </label>
        <span>
          {tell('time')} <TimeSelect label={tell('time')} time={chosen.time} onTime={(time) => change({ time })} />
        </span>
        <label>
          {tell('search')}{' '}
          <input
            type="search"
            value={chosen.text}
            placeholder={tell('searchHint')}
            onChange={({ target }) => change({ text: target.value })}
          />
        </label>
        <Button label={tell('read')} blocked={progress !== null} />
      </form>
      <p role="status">
        {progress !== null && <span>{tell('reading', progress)}</span>}
        {recorded !== null && <span>{tell('found', { n: recorded.runs.length })}</span>}
        {parts.length > 0 && <span> {tell('leftOut', { parts: parts.join(', ') })}</span>}
      </p>
      {error !== null && <p className="notice bad">{tell('failed', { error: failed(error) })}</p>}
      {recorded !== null && recorded.runs.length > 0 && <WithRuns place={place} rule={rule} runs={recorded.runs} />}
    </div>
  );
}

function useRecorded({ app, ruleId }: Props['place'], { count, text, time }: Chosen) {
  const zone = useZone();
  const [recorded, setRecorded] = useState<Recorded | null>(null);
  const [progress, setProgress] = useState<{ read: number; of: number } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const reading = useRef<AbortController | null>(null);
  useEffect(() => () => reading.current?.abort(), []);
  const read = async () => {
    if (progress !== null) return;
    const stop = new AbortController();
    reading.current = stop;
    setRecorded(null);
    setError(null);
    setProgress({ read: 0, of: count });
    const search = searchOf({ ...noFilter, text, time }, serviceNow(), zone) ?? everyRun;
    try {
      setRecorded(
        await readRecorded(
          { app: app ?? '', ruleId, count, search },
          { signal: stop.signal, onRead: (done, of) => setProgress({ read: done, of }) },
        ),
      );
    } catch (failure) {
      setError(failure);
    }
    setProgress(null);
  };
  return { recorded, progress, error, read };
}

function WithRuns({ place, rule, runs }: Props & { runs: readonly RecordedRun[] }) {
  const { tell } = useReplayWords();
  const [, lane] = targetsOf(rule.clients.data ?? []);
  const [targets, setTargets] = useState([lane ?? 'all']);
  const [asOfNow, setAsOfNow] = useState(false);
  const starting = useStart();
  const { app, ruleId, confId } = place;
  const options = { app: app ?? '', ruleId, confId, asOfNow, runs };
  return (
    <>
      <BatchHead
        source="runs"
        label={tell('start', { n: runs.length })}
        cases={runs.length}
        inputCharacters={runs.reduce((sum, { input }) => sum + input.length, 0)}
        rule={rule}
        targets={targets}
        onTargets={setTargets}
        starting={starting}
        onStart={(how) => void starting.start((key) => runRecorded({ ...options, ...how }, key))}
      >
        <label>
          {tell('asOf')}{' '}
          <Select
            value={asOfNow ? 'now' : 'asRun'}
            options={whens.map((when) => [when, tell(when)])}
            onChoose={(when) => setAsOfNow(when === 'now')}
          />
        </label>
      </BatchHead>
      <KeepAsCases place={place} runs={runs} />
    </>
  );
}

function KeepAsCases({ place, runs }: Pick<Props, 'place'> & { runs: readonly RecordedRun[] }) {
  const { tell } = useReplayWords();
  const { failed } = useText();
  const cannot = useLacks()('cases');
  const changeCases = useChangeCases();
  const [state, setState] = useState<{ kept: number | null; error: unknown; busy: boolean }>(idle);
  const of = casesOf(place);
  if (of === null) return null;
  const ways = waysOf(runs);
  const keep = async () => {
    setState({ ...idle, busy: true });
    try {
      let { etag } = await getCases(of);
      for (const { newest } of ways) etag = await changeCases(of, { etag, upsert: caseOf(newest) });
      setState({ ...idle, kept: ways.length });
    } catch (failure) {
      setState({ ...idle, error: failure });
    }
  };
  return (
    <p>
      <Button label={tell('keep', { n: ways.length })} blocked={cannot ?? state.busy} onPress={() => void keep()} />{' '}
      <span role="status">
        {state.kept !== null && <span>{tell('kept', { n: state.kept })}</span>}
        {state.error !== null && <span>{tell('failed', { error: failed(state.error) })}</span>}
      </span>
    </p>
  );
}

const idle = { kept: null, error: null, busy: false };

function caseOf(run: RecordedRun): string {
  const { input, ts, outcome } = run;
  return caseText({ name: nameOfCase(run), input, ts, parts: [{ kind: 'outcome', value: outcome }], saved: null });
}

/** The sentences of this panel, which are fetched with it. */
const en = {
  intro:
    'Runs the inputs of earlier runs on a target, and shows which decisions would change there, and at which node.',
  count: 'Newest runs',
  search: 'Only runs with',
  searchHint: 'uid=42, or words of the input',
  time: 'Which',
  asOf: 'As of',
  asRun: 'the original time of each run',
  now: 'now',
  read: 'Read the runs',
  reading: 'Reading: {read} of {of}',
  found: { one: '1 run can be repeated.', other: '{n} runs can be repeated.' },
  leftOut: 'Left out: {parts}.',
  part: '{n} because {why}',
  start: { one: 'Run the input again for real', other: 'Run all {n} inputs again for real' },
  keep: { one: 'Save 1 case', other: 'Save {n} cases, one for each way through the tree' },
  kept: { one: '1 case is saved.', other: '{n} cases are saved.' },
  failed: 'That failed: {error}',
};
const zh: Record<keyof typeof en, Template> = {
  intro: '在选定的目标上重新运行以往的输入，显示哪些结果会改变，以及从哪个节点开始不同。',
  count: '最近的运行',
  search: '只包括',
  searchHint: 'uid=42，或输入中的词',
  time: '范围',
  asOf: '时间点',
  asRun: '各次运行原来的时间点',
  now: '现在',
  read: '读取这些运行',
  reading: '正在读取：{read} / {of}',
  found: { one: '可以重新运行 1 次。', other: '可以重新运行 {n} 次。' },
  leftOut: '略过：{parts}。',
  part: '{n} 次（{why}）',
  start: { one: '重新真实运行这个输入', other: '重新真实运行全部 {n} 个输入' },
  keep: { one: '保存 1 个用例', other: '保存 {n} 个用例，树中每条路径一个' },
  kept: { one: '已保存 1 个用例。', other: '已保存 {n} 个用例。' },
  failed: '未能完成：{error}',
};

function useReplayWords() {
  const { language, fill, ofService } = useText();
  const words: Record<keyof typeof en, Template> = language === 'zh' ? zh : en;
  return {
    tell: (key: keyof typeof en, parameters: Parameters = {}) => fill(words[key], parameters),
    because: (why: LeftOut) => ofService(failureOfRemark(why)),
  };
}
