import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, linter, lintGutter } from '@codemirror/lint';
import { EditorSelection, EditorState, type SelectionRange } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import { readJson } from '../../../shared/json-tree/read-json.ts';
import { failureOfText } from '../../text/service-words.ts';
import { useText } from '../../text/use-text.tsx';

/** A text of more characters is long. */
const LONG = 50_000;
const PAUSE_MS = 350;

type Props = { label: string; text: string; onChange: (text: string) => void };

/** The document as text. It stands in a shadow tree, so that its styles need no exception in the content security policy. */
export function JsonEditor({ label, text, onChange }: Props) {
  const { say, ofService } = useText();
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView | null>(null);
  const changed = useRef(onChange);
  const first = useRef(text);
  useEffect(() => {
    changed.current = onChange;
  }, [onChange]);

  useEffect(() => {
    if (!host.current) return;
    // Reading a long text at every key would hold up the next one: it is read when the typing pauses, or the editor is left.
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const tellNow = () => {
      clearTimeout(waiting);
      if (waiting !== undefined) changed.current(view.state.doc.toString());
      waiting = undefined;
    };
    const tell = (length: number) => {
      clearTimeout(waiting);
      waiting = setTimeout(tellNow, length > LONG ? PAUSE_MS : 0);
      if (length <= LONG) tellNow();
    };
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          json(),
          syntaxHighlighting(colours),
          linter((view) => findProblems(view, ofService), { delay: first.current.length > LONG ? PAUSE_MS : 150 }),
          lintGutter(),
          keymap.of([
            ...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter'),
            ...historyKeymap,
            { key: 'Escape', run: () => leave(host.current), stopPropagation: true },
          ]),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, 'data-editor': '', tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) tell(update.state.doc.length);
          }),
          EditorView.domEventHandlers({
            beforeinput: editLines,
            blur: () => tellNow(),
            keydown: ({ key, ctrlKey, metaKey }) => {
              if (key === 'Enter' && (ctrlKey || metaKey)) tellNow();
              return false;
            },
          }),
          look,
        ],
      }),
    });
    editor.current = view;
    return () => {
      tellNow();
      view.destroy();
    };
  }, [label, ofService]);

  // The form, a run or an undo wrote the document: show that, and keep the cursor when nothing changed.
  useEffect(() => {
    first.current = text;
    const view = editor.current;
    if (!view || view.state.doc.toString() === text) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
  }, [text]);

  const read = readJson(text);
  return (
    <div className="json-editor">
      <div className="editor-host" ref={host} />
      <p className="bad" role="status">
        {read.kind === 'bad' &&
          say('input.invalid', { line: read.line, column: read.column, message: failureOfText(read.fault) })}
        {read.kind === 'ok' && read.root.kind !== 'object' && say('input.notObject')}
      </p>
    </div>
  );
}

/**
 * The editor itself puts in what goes over several lines. Left to the browser, a line that is split or joined keeps its
 * colours in an inline style, which the content security policy refuses with an error in the browser's console.
 */
function editLines(event: InputEvent, view: EditorView): boolean {
  const typed = event.inputType === 'insertText' ? event.data : event.inputType.startsWith('delete') ? '' : null;
  const selected = selectionOnPage(view);
  if (typed === null || !selected || event.isComposing) return false;
  const { from, to } = selected;
  if (!`${typed}${view.state.sliceDoc(from, to)}`.includes('\n')) return false;
  view.dispatch({
    changes: { from, to, insert: typed },
    selection: { anchor: from + typed.length },
    userEvent: typed === '' ? 'delete' : 'input.type',
    scrollIntoView: true,
  });
  event.preventDefault();
  return true;
}

const NONE = { anchorNode: null, anchorOffset: 0, focusNode: null, focusOffset: 0 };

function selectionIn(root: object): Selection | null {
  return 'getSelection' in root && root.getSelection instanceof Function ? root.getSelection() : null;
}

/** The browser's own selection: the editor hears of a new selection a moment later. */
function selectionOnPage(view: EditorView): SelectionRange | null {
  // In Chromium the selection within a shadow tree is asked of the tree, elsewhere of the document.
  const { anchorNode, anchorOffset, focusNode, focusOffset } =
    selectionIn(view.root) ?? document.getSelection() ?? NONE;
  if (!anchorNode || !focusNode || !view.contentDOM.contains(anchorNode) || !view.contentDOM.contains(focusNode))
    return null;
  return EditorSelection.range(view.posAtDOM(anchorNode, anchorOffset), view.posAtDOM(focusNode, focusOffset));
}

/** Escape leaves the editor for the tab above it; a run that is under way goes on. */
function leave(host: HTMLElement | null): boolean {
  const tab = host?.closest('.tabs')?.querySelector('[role=tab][aria-selected=true]');
  if (tab instanceof HTMLElement) tab.focus();
  return true;
}

function findProblems({ state }: EditorView, ofService: ReturnType<typeof useText>['ofService']): Diagnostic[] {
  const read = readJson(state.doc.toString());
  if (read.kind === 'ok') return [];
  const from = Math.min(read.at, state.doc.length);
  return [
    {
      from,
      to: Math.min(from + 1, state.doc.length),
      severity: 'error',
      message: ofService(failureOfText(read.fault)),
    },
  ];
}

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--json-key)' },
  { tag: tags.string, color: 'var(--json-string)' },
  { tag: tags.number, color: 'var(--json-number)' },
  { tag: [tags.bool, tags.null], color: 'var(--json-word)' },
]);

const look = EditorView.theme({
  '&': { fontSize: '13px', color: 'var(--text)', backgroundColor: 'var(--field)', maxHeight: '60vh' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--muted)', border: 'none' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  // The frame around it is drawn by the page.
  '&.cm-focused': { outline: 'none' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--selection) !important' },
  '.cm-tooltip': { backgroundColor: 'var(--surface)', color: 'var(--text)', border: '1px solid var(--line)' },
});
