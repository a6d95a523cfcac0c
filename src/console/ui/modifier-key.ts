/** The key that runs a rule together with Enter, as it is written on this reader's keyboard. */
export function modifierKey(): '⌘' | 'Ctrl' {
  return /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';
}
