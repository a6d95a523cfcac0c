/** The commands of the keys. Parts of the page that can do one listen. */
export type Command =
  | 'run'
  | 'stop'
  | 'search'
  | 'executed'
  | 'next'
  | 'previous'
  | 'compare'
  | 'find'
  | 'help'
  | `go ${string}`;

const listeners = new Set<(command: Command) => void>();

export function command(name: Command): void {
  for (const listener of [...listeners]) listener(name);
}

/** Listens; returns how to stop. */
export function onCommand(listener: (command: Command) => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
