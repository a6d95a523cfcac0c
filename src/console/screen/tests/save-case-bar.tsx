import { useState } from 'react';
import { useLacks } from '../../run/queries/use-service.ts';
import type { Reading } from '../../run/reading.ts';
import { useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { later } from '../../ui/later.tsx';

const SaveCase = later(() => import('./save-case.tsx').then(({ SaveCase }) => SaveCase), 'loading.page');

/** Among the actions of a run: the way to keep it as a case. */
export function SaveCaseBar({ reading }: { reading: Reading }) {
  const { say } = useText();
  const cannot = useLacks()('cases');
  const [openFor, setOpenFor] = useState<string | null>(null);
  const { mockId } = reading.execution.record;
  if (openFor !== mockId)
    return (
      <div className="save-case-bar">
        <Button disabled={reading.execution.input === null || cannot !== null} onPress={() => setOpenFor(mockId)}>
          <Icon name="plus" size={14} /> {say('save.open')}
        </Button>
        {cannot !== null && <small className="muted"> {cannot}</small>}
      </div>
    );
  return (
    <div className="save-case-bar open">
      <SaveCase key={mockId} reading={reading} saved={null} onDone={() => setOpenFor(null)} />
    </div>
  );
}
