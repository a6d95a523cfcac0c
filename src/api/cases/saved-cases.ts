import { z } from 'zod';
import type { CaseDocument } from '../../shared/cases/document/document.ts';
import { etagOf } from '../../shared/cases/etag.ts';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { QUERY_VERSION } from '../../shared/contract/query.ts';
import { type Problem, problemAt } from '../../shared/reasons/problems.ts';
import { type Refusal, type Refused, refusalFor, refusalOf } from '../../shared/runtime/http-refusals.ts';
import type { AskWorker } from '../ask-worker.ts';
import type { Change, ReadText } from './document-tasks.ts';
import type { Documents } from './documents.ts';

/** The rule or the node that the cases belong to. Ids are decimal text. */
export type CasesOf = { app: number; ruleId: string | null; confId: string | null };
/** The precondition of a change: the cases with this ETag are saved, or (null) none are. */
export type Precondition = { etag: string | null };

type Saved = { kind: 'none' } | { kind: 'found'; text: string; etag: string };
export type Saving =
  | { kind: 'saved'; etag: string | null; cases: number }
  | { kind: 'bad'; problems: Problem[] }
  /** They are not what the caller takes them to be: `etag` is theirs, `names` the cases that differ from what was sent. */
  | { kind: 'changed'; etag: string | null; names: string[] }
  | Refused;

const v = QUERY_VERSION;
const textSchema = z.object({ text: z.string().nullable() });
const savingSchema = z.union([z.object({ saved: z.literal(true) }), z.object({ found: z.string().nullable() })]);

export type SavedCases = ReturnType<typeof createSavedCases>;

/** Saved cases as a resource. A worker reads and saves them; what they say is understood here. */
export function createSavedCases({ ask, documents }: Pick<AskWorker, 'ask'> & { documents: Documents }) {
  const read = (cases: CasesOf) => readSaved(cases, ask);

  /** Saves what was read, or nothing (null), in the place of what the caller expects there. */
  async function save(cases: CasesOf, expected: Precondition, next: ReadText | null): Promise<Saving> {
    if (next?.kind === 'refused') return { kind: 'bad', problems: next.refusals };
    const problems = next === null ? [] : notTheirs(cases, next.document);
    if (problems.length > 0) return { kind: 'bad', problems };
    const text = next?.text ?? null;
    const reply = await ask({ v, ask: 'save-cases', ...cases, expected: expected.etag, text });
    if (reply.kind === 'refused') return reply;
    const saving = savingSchema.parse(parseJson(reply.body));
    if ('found' in saving) return changed(saving.found, text);
    return { kind: 'saved', etag: text === null ? null : etagOf(text), cases: next?.document.cases.length ?? 0 };
  }

  async function changed(found: string | null, sent: string | null): Promise<Saving> {
    const names = await documents.differing([found ?? '', sent ?? '']);
    return { kind: 'changed', etag: found === null ? null : etagOf(found), names };
  }

  /** The document with one case put in or taken out; every other byte of it stays. */
  async function change(cases: CasesOf, expected: Precondition, one: Change): Promise<Saving> {
    const saved = await read(cases);
    if (saved.kind === 'refused') return saved;
    const [text, etag] = saved.kind === 'found' ? [saved.text, saved.etag] : [emptyDocument(cases), null];
    const next = await documents.change(text, one);
    if (etag === expected.etag) return save(cases, expected, next);
    const sent = next.kind === 'read' ? next.text : text;
    return { kind: 'changed', etag, names: await documents.differing([text, sent]) };
  }

  return {
    read,
    change,
    remove: (cases: CasesOf, expected: Precondition) => save(cases, expected, null),
    replace: async (cases: CasesOf, expected: Precondition, text: string) =>
      save(cases, expected, await documents.read(text)),
    list: (app: number) => ask({ v, ask: 'list-saved-cases', app }),

    /** The saved cases, understood. */
    async document(
      cases: CasesOf,
    ): Promise<{ kind: 'document'; document: CaseDocument; etag: string } | { kind: 'none' } | Refused> {
      const saved = await read(cases);
      if (saved.kind !== 'found') return saved;
      const { etag } = saved;
      const understood = await documents.read(saved.text);
      if (understood.kind === 'read') return { kind: 'document', document: understood.document, etag };
      return { kind: 'refused', ...refusalFor('cases-unusable', understood.refusals) };
    },
  };
}

async function readSaved(cases: CasesOf, ask: AskWorker['ask']): Promise<Saved | Refused> {
  const reply = await ask({ v, ask: 'saved-cases', ...cases });
  if (reply.kind === 'refused') return reply;
  const { text } = textSchema.parse(parseJson(reply.body));
  return text === null ? { kind: 'none' } : { kind: 'found', text, etag: etagOf(text) };
}

export function noneSaved({ app, ruleId, confId }: CasesOf): Refusal {
  return refusalOf('no-saved-cases', { app, ...(ruleId === null ? { confId: `${confId}` } : { ruleId }) });
}

function emptyDocument({ app, ruleId, confId }: CasesOf): string {
  return `app: ${app}\n${ruleId === null ? `confId: ${confId}` : `ruleId: ${ruleId}`}\ncases: []\n`;
}

/** A document is saved only where its own `app`, `ruleId` and `confId` are true. */
function notTheirs(cases: CasesOf, document: CaseDocument): Problem[] {
  return (['app', 'ruleId', 'confId'] as const).flatMap((field) => {
    const [said, meant] = [document[field], cases[field]];
    if (said === null || String(said) === String(meant)) return [];
    return [problemAt(field, 'other-rule', { said, why: meant ?? 'nothing' })];
  });
}
