import { useMemo, useState } from 'react';
import { prettyText } from '../../../shared/json-tree/whole-text.ts';
import { callOf } from '../../run/call-of.ts';
import { curlOf } from '../../run/curl.ts';
import type { Reading } from '../../run/reading.ts';
import { useText } from '../../text/use-text.tsx';
import { saveText } from '../../ui/copy.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { RawText } from '../../ui/raw-text.tsx';
import { useSession } from '../frame/session.ts';

/** The texts themselves: the result as the client wrote it and the call that led to it. */
export function RawView({ reading }: { reading: Reading }) {
  const { say } = useText();
  const { record, input, result, lateResult, written } = reading.execution;
  const { signedIn } = useSession();
  const curl = curlOf(callOf(record, input), { origin: window.location.origin, signedIn });
  // Without a client's answer the result is the service's own.
  const whose = record.outcome?.code == null ? 'raw.result' : 'raw.answer';
  const title = lateResult === null ? whose : 'raw.late';
  const text = lateResult ?? result ?? '';
  const [asWritten, setAsWritten] = useState(false);
  const formatted = useMemo(() => prettyText(text), [text]);
  return (
    <div className="raw">
      {written !== null && (
        <>
          <div className="raw-head">
            <h2>{say('raw.clientWrote')}</h2>
          </div>
          <RawText text={written} label={say('raw.clientWrote')} />
        </>
      )}
      <div className="raw-head">
        <h2>{say(title)}</h2>
        <CopyButton label={say('json.copy')} done={say('json.copied')} text={() => text} quiet />
        <button
          type="button"
          className="icon-button"
          aria-label={say('json.download')}
          title={say('json.download')}
          onClick={() => saveText(text, `${record.mockId}.json`)}
        >
          <Icon name="save" />
        </button>
      </div>
      <div className="raw-views" role="group" aria-label={say(title)}>
        <button type="button" className="quiet" aria-pressed={!asWritten} onClick={() => setAsWritten(false)}>
          {say('raw.formatted')}
        </button>
        <button type="button" className="quiet" aria-pressed={asWritten} onClick={() => setAsWritten(true)}>
          {say('raw.written')}
        </button>
      </div>
      <RawText text={asWritten ? text : formatted} label={say(title)} />
      <div className="raw-head">
        <h2>{say('raw.call')}</h2>
        <CopyButton icon="terminal" label={say('raw.curl')} done={say('link.curlCopied')} text={() => curl} />
      </div>
      <RawText text={curl} label={say('raw.call')} />
      <p className="muted">{say('raw.record', { id: record.mockId })}</p>
    </div>
  );
}
