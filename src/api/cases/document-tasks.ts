import { type CaseDocument, readDocument } from '../../shared/cases/document/document.ts';
import { CannotSplice, removeCase, upsertCase } from '../../shared/cases/document/splice.ts';
import { readYaml } from '../../shared/cases/document/yaml-text.ts';
import type { Problem } from '../../shared/reasons/problems.ts';

/** A case to put into a document, as JSON text of one line, and the name of one to take out. */
export type Change = { upsert: { name: string; json: string } | null; remove: string | null };

/** A document to read, after a change if there is one. */
export type DocumentTask = { text: string; change?: Change };

export type ReadText =
  | { kind: 'read'; text: string; document: CaseDocument }
  | { kind: 'refused'; refusals: Problem[] };

/** Reads a document. It may take seconds for a large one. */
export function runDocumentTask({ text: before, change }: DocumentTask): ReadText {
  try {
    const text = change ? changed(before, change) : before;
    const yaml = readYaml(text);
    const read = yaml.kind === 'read' ? readDocument(yaml.json, yaml.lineOf) : yaml;
    return read.kind === 'refused' ? read : { kind: 'read', text, document: read.document };
  } catch (error) {
    if (error instanceof CannotSplice) return { kind: 'refused', refusals: [error.problem] };
    throw error;
  }
}

function changed(text: string, { upsert, remove }: Change): string {
  const without = remove === null ? text : removeCase(text, remove);
  return upsert === null ? without : upsertCase(without, upsert);
}
