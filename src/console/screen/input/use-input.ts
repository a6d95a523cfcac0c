import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type ReadJson, readJson } from '../../../shared/json-tree/read-json.ts';
import { compactText, prettyText } from '../../../shared/json-tree/whole-text.ts';
import type { ValueProblem } from '../../json/form-value.ts';
import { exampleInput } from '../../run/form.ts';
import { draftKey, keepDraft, useDraft } from '../../state/drafts.ts';
import { beforePush, goTo, type Place, useArrivals } from '../../state/location.ts';
import type { RuleContext } from '../frame/use-rule.ts';

export type Input = ReturnType<typeof useInput>;

/** Something typed into a form row that is no value of its kind: it is not in the document and holds up Run. */
type BadField = { rule: string; key: string; typed: string; problem: ValueProblem };

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

  // Another input was opened, by a link or by going back: the typed one can be restored.
  const adopt = (input: string): void => {
    const next = prettyText(input);
    if (draft !== null && compactText(draft) === compactText(next)) return;
    if (draft !== null) setReplaced({ rule, text: draft });
    setBad([]);
    keepDraft(rule, next);
  };

  useArrivedInput(place, { hasDraft: draft !== null, adopt });
  useInAddress({ place, text, ready });

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
    /** The form of one node of the rule begins with this input. */
    keepFor: (confId: string) => keepDraft(draftKey(place.app ?? '', { ruleId: place.ruleId, confId }), text),
    /** Takes the input of a run; what was typed can be taken back. */
    adopt,
    takeBack(): void {
      if (replaced) keepDraft(replaced.rule, replaced.text);
      setReplaced(null);
    },
  };
}

/**
 * An address that was opened has an input of its own. That of a run waits for the run itself, which knows it for certain, unless
 * there is nothing to show meanwhile.
 */
function useArrivedInput(
  { input, run }: Place,
  { hasDraft, adopt }: { hasDraft: boolean; adopt: (input: string) => void },
): void {
  const arrivals = useArrivals();
  const seen = useRef(0);
  useEffect(() => {
    if (seen.current === arrivals) return;
    seen.current = arrivals;
    if (input !== null && (run === null || !hasDraft)) adopt(input);
  }, [arrivals, input, run, hasDraft, adopt]);
}

/** Keeps the address in step with the document, as long as no run is shown: an address with a run has that run's input. */
function useInAddress({ place, text, ready }: { place: Place; text: string; ready: boolean }): void {
  const unwritten = useRef<string | null>(null);
  const mayWrite = ready && place.run === null && place.runs.length === 0;
  const write = useCallback(() => {
    if (unwritten.current !== null) goTo({ input: unwritten.current });
    unwritten.current = null;
  }, []);
  useEffect(() => {
    unwritten.current = mayWrite ? text : null;
    if (!mayWrite) return;
    const timer = setTimeout(write, INTO_ADDRESS_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text, mayWrite, write]);
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
