import { Component, Fragment, type ReactNode } from 'react';
import { useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';

type State = { error: Error | null; drawn: number };

/**
 * A mistake of this page must not leave it blank: what was typed is kept, and a reload goes on. Where a translation or an extension has
 * moved parts of the page, so that these cannot be changed any more, everything is drawn anew.
 */
export class Boundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null, drawn: 0 };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidCatch(error: unknown): void {
    if (isMoved(error)) this.setState(({ drawn }) => ({ error: null, drawn: drawn + 1 }));
  }

  override render() {
    const { error, drawn } = this.state;
    if (isMoved(error)) return null;
    return error ? <Broken error={error} /> : <Fragment key={drawn}>{this.props.children}</Fragment>;
  }
}

/** A part of the page is not where it was put. A mistake of ours in it would be one again when it is drawn anew, and is told. */
export const isMoved = (error: unknown) => error instanceof DOMException && error.name === 'NotFoundError';

function Broken({ error }: { error: Error }) {
  const { say } = useText();
  return (
    <main className="empty muted">
      <div role="alert">
        <h1>{say('failed.page.title')}</h1>
        <p>{say('failed.page.text', { error: error.message })}</p>
      </div>
      <Button label={say('failed.page.reload')} className="button primary" onPress={() => window.location.reload()} />
    </main>
  );
}
