import { useState } from 'react';
import { useText } from '../text/use-text.tsx';
import { useAnnounce } from './announce.tsx';
import { copyText } from './copy.ts';
import { Icon, type IconName } from './icon.tsx';

type Props = { icon?: IconName; label: string; done: string; text: () => string; quiet?: boolean };

const TICK_MS = 1400;

/** Copies a text and says so. `quiet`: only the drawing is seen. */
export function CopyButton({ icon = 'copy', label, done, text, quiet = false }: Props) {
  const { say } = useText();
  const announce = useAnnounce();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    const worked = await copyText(text());
    announce(worked ? done : say('link.failed'));
    if (!worked) return;
    setCopied(true);
    setTimeout(() => setCopied(false), TICK_MS);
  };
  return (
    <button
      type="button"
      className={quiet ? 'icon-button' : 'button'}
      aria-label={quiet ? label : undefined}
      title={quiet ? label : undefined}
      onClick={() => void copy()}
    >
      <Icon name={copied ? 'check' : icon} />
      {!quiet && <span>{label}</span>}
    </button>
  );
}
