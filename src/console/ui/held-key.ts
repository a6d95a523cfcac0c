/** Enter that is held down presses a button once, as the space bar does: a browser would press it again with each repetition of the key. */
export function pressOnceWhileHeld(): void {
  const keep = (event: KeyboardEvent) => {
    if (event.repeat && event.key === 'Enter' && event.composedPath().some(isButton)) event.preventDefault();
  };
  window.addEventListener('keydown', keep, { capture: true });
}

const isButton = (target: EventTarget) => target instanceof HTMLButtonElement;
