import { expectText } from '../../shared/cases/case.ts';
import type { CaseDocument } from '../../shared/cases/document/document.ts';
import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { readCasesSchema } from '../../shared/contract/saved-cases.ts';
import { printAs } from '../../shared/contract/wire.ts';

/** Saved cases as JSON text: each as a call has it, defaults filled in, with every number as it was written. */
export function casesBody({ ignore, cases }: Pick<CaseDocument, 'ignore' | 'cases'>, etag: string | null): string {
  const bodies = cases.map(({ input, expect, ...one }) => ({
    ...one,
    [DATA_FIELD]: input,
    expect: expectText(expect),
  }));
  return printAs(readCasesSchema, { etag, ignore, cases: bodies });
}
