import { useState } from 'react';
import { useText } from '../text/use-text.tsx';
import { useAnnounce } from './announce.tsx';
import { Button } from './button.tsx';
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
    <Button
      className={quiet ? 'icon-button' : 'button'}
      aria-label={quiet ? label : undefined}
      title={quiet ? label : undefined}
      onPress={() => void copy()}
    >
      <Icon name={copied ? 'check' : icon} />
      {!quiet && <span>{label}</span>}
    </Button>
  );
}

/** Puts a text on the clipboard; whether that worked. On plain HTTP there is no `navigator.clipboard`. */
async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // Not allowed: the old way may be.
  }
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('readonly', '');
  area.className = 'off-screen';
  document.body.append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}

/** Lets the browser save a text as a file. */
export function saveText(text: string, fileName: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
