import type { Case } from '../../shared/cases/case.ts';
import { type CaseDocument, readDocument } from '../../shared/cases/document/document.ts';
import type { Refusal } from '../../shared/cases/document/refusal.ts';
import { CannotSplice, removeCase, upsertCase } from '../../shared/cases/document/splice.ts';
import { readYaml } from '../../shared/cases/document/yaml-text.ts';

/** A case to put into a document, as JSON text of one line, and the name of one to take out. */
export type Change = { upsert: { name: string; json: string } | null; remove: string | null };

/** A task with a document: read it, change it, or find the cases in which two of them differ. */
export type DocumentTask =
  | { task: 'read'; text: string }
  | { task: 'change'; text: string; change: Change }
  | { task: 'compare'; texts: [string, string] };

export type ReadText =
  | { kind: 'read'; text: string; document: CaseDocument }
  | { kind: 'refused'; refusals: Refusal[] }
  | { kind: 'cannot'; error: string };
export type DocumentResult = ReadText | { kind: 'compared'; names: string[] };

/** Does one task. It may take seconds for a large document. */
export function runDocumentTask(task: DocumentTask): DocumentResult {
  switch (task.task) {
    case 'read':
      return read(task.text);
    case 'change':
      return changed(task.text, task.change);
    case 'compare':
      return { kind: 'compared', names: differing(task.texts) };
  }
}

function read(text: string): ReadText {
  const yaml = readYaml(text);
  if (yaml.kind === 'refused') return yaml;
  const parsed = readDocument(yaml.json, yaml.lineOf);
  return parsed.kind === 'refused' ? parsed : { kind: 'read', text, document: parsed.document };
}

function changed(text: string, { upsert, remove }: Change): ReadText {
  try {
    const without = remove === null ? text : removeCase(text, remove);
    return read(upsert === null ? without : upsertCase(without, upsert));
  } catch (error) {
    if (error instanceof CannotSplice) return { kind: 'cannot', error: error.message };
    throw error;
  }
}

/** Names of cases that only one of two documents has, or that are not the same in both. */
function differing(texts: [string, string]): string[] {
  const [first, second] = texts.map((text) => {
    const parsed = text === '' ? null : read(text);
    return new Map(parsed?.kind === 'read' ? parsed.document.cases.map((one) => [one.name, printed(one)]) : []);
  });
  const names = new Set([...(first?.keys() ?? []), ...(second?.keys() ?? [])]);
  return [...names].filter((name) => first?.get(name) !== second?.get(name));
}

function printed({ line, ...one }: Case): string {
  return JSON.stringify(one);
}
