import { useEffect } from 'react';
import { paneWidths } from '../state/preferences.ts';
import { useText } from '../text/use-text.tsx';

type Pane = 'input' | 'details';

const [NARROWEST, WIDEST] = [240, 640];
const OWN: Record<Pane, number> = { input: 328, details: 400 };
const STEP = 16;

/** The edge of a pane: dragged, or moved by arrow keys, it makes the pane wider; a double click gives it its own width back. */
export function Splitter({ pane }: { pane: Pane }) {
  const { say } = useText();
  const widths = paneWidths.use();
  const width = widths[pane];
  const set = (next: number | null) =>
    paneWidths.set({ ...widths, [pane]: next && Math.round(Math.min(WIDEST, Math.max(NARROWEST, next))) });
  useEffect(() => {
    const { style } = document.documentElement;
    if (width === null) style.removeProperty(`--${pane}-width`);
    else style.setProperty(`--${pane}-width`, `${width}px`);
  }, [pane, width]);
  return (
    <div
      className={`splitter of-${pane}`}
      role="separator"
      aria-orientation="vertical"
      aria-label={say(`splitter.${pane}`)}
      aria-valuenow={width ?? OWN[pane]}
      aria-valuemin={NARROWEST}
      aria-valuemax={WIDEST}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
        set(pane === 'input' ? event.clientX : window.innerWidth - event.clientX);
      }}
      onDoubleClick={() => set(null)}
      onKeyDown={(event) => {
        const wider = pane === 'input' ? 'ArrowRight' : 'ArrowLeft';
        if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
        event.preventDefault();
        const now = event.currentTarget.parentElement?.querySelector(`.column.${pane}`)?.clientWidth ?? NARROWEST;
        set(now + (event.key === wider ? STEP : -STEP));
      }}
    />
  );
}
