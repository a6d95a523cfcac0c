import { useEffect } from 'react';
import { useText } from '../../text/use-text.tsx';
import { Icon } from '../../ui/icon.tsx';
import { IconButton } from '../../ui/icon-button.tsx';
import { onCommand } from '../frame/commands.ts';

type Props = {
  search: string;
  onSearch: (text: string) => void;
  executedOnly: boolean;
  onExecutedOnly: (only: boolean) => void;
  pathOnly: boolean;
  onPathOnly: (only: boolean) => void;
  onOpenAll: () => void;
  onCloseAll: () => void;
  onMove: (step: 1 | -1) => void;
};

/** The tools for the tree as a whole. */
export function TraceTools(props: Props) {
  const { search, onSearch, executedOnly, onExecutedOnly, pathOnly, onPathOnly, onOpenAll, onCloseAll, onMove } = props;
  const { say } = useText();
  useEffect(
    () =>
      onCommand((command) => {
        if (command === 'executed') onExecutedOnly(!executedOnly);
        if (command === 'next') onMove(1);
        if (command === 'previous') onMove(-1);
      }),
    [executedOnly, onExecutedOnly, onMove],
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
            if (event.key !== 'Escape') return;
            event.stopPropagation();
            onSearch('');
            event.currentTarget.blur();
          }}
        />
        <kbd>/</kbd>
      </div>
      <label className="switch">
        <input type="checkbox" checked={executedOnly} onChange={({ target }) => onExecutedOnly(target.checked)} />
        {say('trace.executedOnly')}
      </label>
      <label className="switch">
        <input type="checkbox" checked={pathOnly} onChange={({ target }) => onPathOnly(target.checked)} />
        {say('trace.pathOnly')}
      </label>
      <IconButton icon="plus" label={say('trace.expandAll')} onPress={onOpenAll} />
      <IconButton icon="minus" label={say('trace.collapseAll')} onPress={onCloseAll} />
    </div>
  );
}
