/** Puts the focus into the first value of the form; while the input is shown as JSON, on its tab. */
export function focusFirstValue(): void {
  focus('.input-form .value, .input-panel.json [role=tab][aria-selected=true]');
}

/** Puts the focus into the field that searches the nodes of the tree. */
export function focusSearch(): void {
  focus('.tree-column input[type=search]');
}

function focus(selector: string): void {
  const element = document.querySelector(selector);
  if (element instanceof HTMLElement) element.focus();
}
