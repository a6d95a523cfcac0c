import { Component, type ReactNode } from 'react';
import { useText } from '../../text/use-text.tsx';

type State = { error: Error | null };

/** A mistake of this page must not leave it blank: what was typed is kept, and a reload goes on. */
export class Boundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render() {
    return this.state.error ? <Broken error={this.state.error} /> : this.props.children;
  }
}

function Broken({ error }: { error: Error }) {
  const { say } = useText();
  return (
    <main className="empty">
      <div role="alert">
        <h1>{say('failed.page.title')}</h1>
        <p>{say('failed.page.text', { error: error.message })}</p>
      </div>
      <button type="button" className="button primary" onClick={() => window.location.reload()}>
        {say('failed.page.reload')}
      </button>
    </main>
  );
}
