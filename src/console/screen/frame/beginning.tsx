import { useText } from '../../text/use-text.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';

const commands = [
  { text: 'begin.demo', command: 'SHARED_DIR=/path/to/shared npx rule-server demo-client' },
  { text: 'begin.install', command: 'npm install rule-server-client' },
  { text: 'begin.start', command: 'SHARED_DIR=/path/to/shared node service.ts' },
] as const;

/** Before there is any app: how to bring a first client here. The page goes on by itself when one comes. */
export function Beginning() {
  const { say } = useText();
  return (
    <div className="column beginning">
      <h2>{say('begin.title')}</h2>
      <p>{say('begin.text')}</p>
      <ol>
        {commands.map(({ text, command }) => (
          <li key={command}>
            <span className="muted">{say(text)}</span>
            <code>{command}</code>
            <CopyButton label={say('begin.copy')} done={say('json.copied')} text={() => command} quiet />
          </li>
        ))}
      </ol>
      <p className="begin-waits line muted" role="status">
        <i aria-hidden="true" /> {say('begin.waits')}
      </p>
    </div>
  );
}
