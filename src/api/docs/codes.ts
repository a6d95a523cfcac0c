import { statusOf } from '../../shared/reasons/codes.ts';
import { endings } from '../../shared/reasons/endings.ts';
import { refusals } from '../../shared/reasons/refusals.ts';
import { withNames } from '../../shared/reasons/template.ts';

/** One code on /docs: the `type` of a problem leads to its `#code-…`. */
export type CodeDoc = { name: string; statuses: number[]; texts: { reason: string; text: string }[] };

export function codeDocs(): CodeDoc[] {
  const docs = new Map<string, CodeDoc>();
  const add = (name: string, status: number, reason: string, text: string) => {
    const doc = docs.get(name) ?? { name, statuses: [], texts: [] };
    docs.set(name, doc);
    if (!doc.statuses.includes(status)) doc.statuses.push(status);
    doc.texts.push({ reason, text: withNames(text) });
  };
  for (const [reason, { code, ran, text }] of Object.entries(endings))
    add(code, statusOf({ code, mayHaveRun: ran !== 'no' }), reason, text);
  for (const [code, { status, text }] of Object.entries(refusals)) add(code, status, code, text);
  return [...docs.values()];
}
