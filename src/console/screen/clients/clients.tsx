import { useState } from 'react';
import { useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { later } from '../../ui/later.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import { areLost } from '../input/target.tsx';

const ClientsPanel = later(() => import('./clients-panel.tsx').then(({ ClientsPanel }) => ClientsPanel));

/** How many clients are online; pressing it lists them. */
export function ClientCount({ rule }: { rule: RuleContext }) {
  const { say } = useText();
  const [open, setOpen] = useState(false);
  const { app, clients, version } = rule;
  if (app === null || !clients.data) return null;
  // After the service went away the old list is not shown.
  if (areLost(rule))
    return (
      <span className="clients none" title={say('header.clients.lost.hint')}>
        <i aria-hidden="true" />
        {say('header.clients.lost')}
      </span>
    );
  const online = clients.data.filter((client) => client.online).length;
  return (
    <>
      <Button
        className={online === 0 ? 'clients none' : 'clients'}
        title={say('header.clients.hint')}
        aria-expanded={open}
        onPress={() => setOpen(!open)}
      >
        <i aria-hidden="true" />
        {online === 0 ? say('header.clients.none') : say('header.clients', { n: online })}
      </Button>
      {open && <ClientsPanel app={app} clients={clients.data} released={version} onClose={() => setOpen(false)} />}
    </>
  );
}
