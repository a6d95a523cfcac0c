import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ValueProblem } from '../../json/form-value.ts';
import { type ReadJson, readJson } from '../../json/read-json.ts';
import { compactText, prettyText } from '../../json/whole-text.ts';
import { exampleInput } from '../../run/example.ts';
import { draftKey, keepDraft, useDraft } from '../../state/drafts.ts';
import { beforePush, goTo, type Place } from '../../state/location.ts';
import type { RuleContext } from '../frame/use-rule.ts';

export type Input = ReturnType<typeof useInput>;

/** Something typed into a form row that is no value of its kind: it is not in the document and holds up Run. */
export type BadField = { rule: string; key: string; typed: string; problem: ValueProblem };

const INTO_ADDRESS_AFTER_MS = 300;

/** The one document that the form and the JSON view show: its text, whoever wrote it. */
export function useInput(place: Place, { schema, tree }: Pick<RuleContext, 'schema' | 'tree'>) {
  const rule = draftKey(place.app ?? '', place);
  const draft = useDraft(rule);
  const example = useMemo(() => {
    if (!schema.data || tree.isPending) return null;
    return exampleInput(schema.data, tree.data ?? null);
  }, [schema.data, tree.data, tree.isPending]);
  const text = draft ?? example ?? '{}';
  const read: ReadJson = useMemo(() => readJson(text), [text]);
  const [allBad, setBad] = useState<readonly BadField[]>([]);
  const bad = useMemo(() => allBad.filter((field) => field.rule === rule), [allBad, rule]);
  const [replaced, setReplaced] = useState<{ rule: string; text: string } | null>(null);
  // An input nobody wrote and nobody proposed has no place in the address.
  const ready = draft !== null || example !== null;
  const waiting = !ready && (schema.isLoading || (schema.data !== undefined && tree.isLoading));

  useInAddress({ place, rule, text, ready });

  return {
    text,
    read,
    bad,
    /** Whether an example may still come: what would be sent now is not what the form is about to show. */
    waiting,
    isExample: draft === null && example !== null && example !== '{}',
    replaced: replaced?.rule === rule ? replaced.text : null,
    noteBad: (field: Omit<BadField, 'rule'>) =>
      setBad((all) => [...all.filter(({ key }) => key !== field.key), { ...field, rule }]),
    forgetBad: (key: string) => setBad((all) => all.filter((field) => field.key !== key)),
    set(next: string): void {
      setReplaced(null);
      keepDraft(rule, next);
    },
    /** Takes the input of a run; what was typed can be taken back. */
    adopt(input: string): void {
      const next = prettyText(input);
      if (draft !== null && compactText(draft) !== compactText(next)) setReplaced({ rule, text: draft });
      setBad([]);
      keepDraft(rule, next);
    },
    takeBack(): void {
      if (replaced) keepDraft(replaced.rule, replaced.text);
      setReplaced(null);
    },
  };
}

/** Keeps the address in step with the document, and the document with an address that somebody opened. */
function useInAddress({
  place,
  rule,
  text,
  ready,
}: {
  place: Place;
  rule: string;
  text: string;
  ready: boolean;
}): void {
  const written = useRef<string | null>(null);
  const { input } = place;
  useEffect(() => {
    if (input === null || input === written.current) return;
    written.current = input;
    keepDraft(rule, prettyText(input));
  }, [input, rule]);
  const unwritten = useRef<string | null>(null);
  const write = useCallback(() => {
    if (unwritten.current === null) return;
    written.current = compactText(unwritten.current);
    goTo({ input: unwritten.current });
    unwritten.current = null;
  }, []);
  useEffect(() => {
    unwritten.current = ready ? text : null;
    if (!ready) return;
    const timer = setTimeout(write, INTO_ADDRESS_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text, ready, write]);
  // A page that is left, or that breaks, comes back with what its address says.
  useEffect(() => {
    window.addEventListener('pagehide', write);
    const forget = beforePush(write);
    return () => {
      forget();
      window.removeEventListener('pagehide', write);
      write();
    };
  }, [write]);
}
