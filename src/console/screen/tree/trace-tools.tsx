import { useEffect } from 'react';
import { useText } from '../../text/use-text.tsx';
import { Icon } from '../../ui/icon.tsx';
import { IconButton } from '../../ui/icon-button.tsx';
import { command, onCommand } from '../frame/commands.ts';

/** Which nodes are drawn: all, those that ran, or those on the way to the result. */
const shownNodes = ['all', 'ran', 'path'] as const;
export type ShownNodes = (typeof shownNodes)[number];

type Props = {
  search: string;
  onSearch: (text: string) => void;
  /** How many nodes match the search. */
  found: number;
  shown: ShownNodes;
  onShown: (shown: ShownNodes) => void;
  onOpenAll: () => void;
  onCloseAll: () => void;
  onMove: (step: 1 | -1) => void;
  /** Goes to the next node that matches. */
  onNext: () => void;
};

/** The tools for the tree as a whole. */
export function TraceTools(props: Props) {
  const { search, onSearch, found, shown, onShown, onOpenAll, onCloseAll, onMove, onNext } = props;
  const { say } = useText();
  useEffect(
    () =>
      onCommand((command) => {
        if (command === 'executed') onShown(shown === 'ran' ? 'all' : 'ran');
        if (command === 'next') onMove(1);
        if (command === 'previous') onMove(-1);
      }),
    [shown, onShown, onMove],
  );
  return (
    <div className="trace-tools">
      <div className="search">
        <Icon name="search" size={14} />
        <input
          type="search"
          aria-label={say('trace.search')}
          placeholder={say('trace.search')}
          value={search}
          onChange={({ target }) => onSearch(target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') return onNext();
            if (event.key !== 'Escape') return;
            event.stopPropagation();
            onSearch('');
            event.currentTarget.blur();
          }}
        />
        <kbd>/</kbd>
        <small role="status">{search !== '' && say('trace.search.found', { n: found })}</small>
      </div>
      <div className="choices" role="group" aria-label={say('trace.shown')}>
        {shownNodes.map((name) => (
          <button
            type="button"
            key={name}
            aria-pressed={shown === name}
            title={say(`trace.shown.${name}.hint`)}
            onClick={() => onShown(name)}
          >
            {say(`trace.shown.${name}`)}
          </button>
        ))}
      </div>
      <IconButton icon="plus" label={say('trace.expandAll')} onPress={onOpenAll} />
      <IconButton icon="minus" label={say('trace.collapseAll')} onPress={onCloseAll} />
      <IconButton icon="info" label={say('legend.title')} onPress={() => command('help')} />
    </div>
  );
}
