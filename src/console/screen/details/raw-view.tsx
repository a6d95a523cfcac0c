import { useMemo, useRef, useState } from 'react';
import { prettyText } from '../../../shared/json-tree/whole-text.ts';
import { callOf, curlOf } from '../../run/calls.ts';
import type { Reading } from '../../run/reading.ts';
import { useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton, saveText } from '../../ui/copy-button.tsx';
import { IconButton } from '../../ui/icon.tsx';
import { useWindowedRows } from '../../ui/windowed-rows.ts';
import { useSession } from '../frame/sign-in.tsx';

/** The texts themselves: the result as the client wrote it and the call that led to it. */
export function RawView({ reading }: { reading: Reading }) {
  const { say } = useText();
  const { record, input, result, lateResult, written } = reading.execution;
  const { signedIn } = useSession();
  const curl = curlOf(callOf(record, input), { origin: window.location.origin, signedIn });
  // Without a client's answer the result is the service's own.
  const whose = record.ending?.code == null ? 'raw.result' : 'raw.answer';
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
        <CopyButton label={say('input.copy')} done={say('json.copied')} text={() => text} quiet />
        <IconButton icon="save" label={say('json.download')} onPress={() => saveText(text, `${record.mockId}.json`)} />
      </div>
      <div className="raw-views" role="group" aria-label={say(title)}>
        <Button
          label={say('raw.formatted')}
          className="quiet"
          aria-pressed={!asWritten}
          onPress={() => setAsWritten(false)}
        />
        <Button
          label={say('raw.written')}
          className="quiet"
          aria-pressed={asWritten}
          onPress={() => setAsWritten(true)}
        />
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

const LINE_HEIGHT = 20;
const LINE_LENGTH = 120;
/** Up to here the browser breaks the lines itself. */
const PLAIN_LENGTH = 20_000;

function RawText({ text, label }: { text: string; label: string }) {
  return text.length <= PLAIN_LENGTH ? (
    <pre className="raw-text" tabIndex={0} aria-label={label} role="region">
      {text}
    </pre>
  ) : (
    <LongText text={text} label={label} />
  );
}

function LongText({ text, label }: { text: string; label: string }) {
  const box = useRef<HTMLDivElement>(null);
  const lines = useMemo(() => cut(text), [text]);
  const { first, last, above, total } = useWindowedRows(box, { count: lines.length, rowHeight: LINE_HEIGHT });
  return (
    <div className="raw-text long" ref={box} tabIndex={0} aria-label={label} role="region">
      <div style={{ height: total, paddingTop: above }}>
        {lines.slice(first, last).map(({ at, line }) => (
          <div key={at}>{line}</div>
        ))}
      </div>
    </div>
  );
}

function cut(text: string): { at: number; line: string }[] {
  const pieces = text.matchAll(new RegExp(`[^\\n]{1,${LINE_LENGTH}}|\\n(?=\\n)`, 'gu'));
  return Array.from(pieces, ({ 0: line, index }) => ({ at: index, line: line === '\n' ? '' : line }));
}
