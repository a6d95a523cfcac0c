import { useEffect } from 'react';
import { flushSync } from 'react-dom';
import { nameOf, type Occurrence } from '../../../shared/reasoning/tree.ts';
import { type ExecutionRecord, getExecution } from '../../api/executions.ts';
import { goTo, type Place } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import { useFailed } from '../../ui/announce.tsx';
import { Combobox, type Option } from '../../ui/combobox.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import { command, focusPage, focusTree } from './commands.ts';
import type { RuleContext } from './use-rule.ts';
import { places } from './views.tsx';

type Props = {
  rule: RuleContext;
  occurrences: readonly Occurrence[];
  onNode: (occurrence: Occurrence) => void;
  onRun: (record: ExecutionRecord, more: Partial<Place>) => void;
  onClose: () => void;
};

/** Goes to a rule, a node of this rule, a run or a page by its name or id. */
export function Finder({ rule, occurrences, onNode, onRun, onClose }: Props) {
  const { say } = useText();
  const failed = useFailed();
  useEffect(() => document.querySelector<HTMLInputElement>('.finder input')?.focus(), []);
  const options: Option[] = [
    ...places.map(({ title, key }) => ({
      id: `page:${key}`,
      title: say(title),
      detail: `${say('find.page')} · g ${key}`,
    })),
    ...(rule.rules.data?.rules ?? []).map(({ ruleId, name }) => ({
      id: `rule:${ruleId}`,
      title: name ?? say('rule.unnamed', { id: ruleId }),
      detail: say('find.rule', { id: ruleId }),
    })),
    ...occurrences.map(({ node, index }) => ({
      id: `node:${index}`,
      title: nameOf(node),
      detail: say('find.node', { id: node.id }),
    })),
  ];
  const go = async (id: string) => {
    const [kind, of = ''] = id.split(/:(.*)/s);
    if (kind === 'page') return command(`go ${of}`);
    if (kind === 'rule') {
      const to = { ruleId: of, confId: null, ts: null, panel: null, run: null, runs: [], input: null };
      flushSync(() => goTo(to, { push: true }));
      return focusPage(null);
    }
    const node = kind === 'node' ? occurrences[Number(of)] : undefined;
    if (node) {
      goTo({ panel: null, runs: [] });
      flushSync(() => onNode(node));
      return focusTree();
    }
    const { record } = await getExecution(of);
    flushSync(() => onRun(record, { panel: null }));
    focusPage(null);
  };
  return (
    <Sheet title={say('find.title')} onClose={onClose}>
      <div className="finder">
        <Combobox
          label={say('find.title')}
          shown=""
          placeholder={say('find.placeholder')}
          options={options}
          chosen={null}
          custom={(typed) =>
            RUN_ID.test(typed) ? { id: `run:${typed}`, title: say('find.run', { id: typed }) } : null
          }
          nothing={say('find.nothing')}
          onChoose={(id) => {
            flushSync(onClose); // which puts the focus back
            go(id).catch(failed);
          }}
        />
      </div>
    </Sheet>
  );
}

const RUN_ID = /^[0-9a-f-]{36}$/;
