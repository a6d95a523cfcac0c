import type { Case, Expect } from '../../shared/cases/case.ts';
import type { CaseDocument } from '../../shared/cases/document/document.ts';
import { DATA_FIELD } from '../../shared/contract/data-field.ts';

/** Saved cases as JSON text: each as a call has it, defaults filled in, with every number as it was written. */
export function casesBody({ ignore, cases }: Pick<CaseDocument, 'ignore' | 'cases'>, etag: string | null): string {
  return `{"etag":${JSON.stringify(etag)},"ignore":${JSON.stringify(ignore)},"cases":[${cases.map(caseBody).join(',')}]}`;
}

function caseBody({ name, line, input, ts, tags, skip, expect }: Case): string {
  const parts = [
    `"name":${JSON.stringify(name)}`,
    `"line":${line}`,
    `${JSON.stringify(DATA_FIELD)}:${input}`,
    `"ts":${ts ?? 'null'}`,
    `"tags":${JSON.stringify(tags)}`,
    `"skip":${skip}`,
    `"expect":${expectBody(expect)}`,
  ];
  return `{${parts.join(',')}}`;
}

/** The expectation as JSON text; the data in it stays as it was written. */
export function expectBody(expect: Expect | null): string {
  if (expect === null) return 'null';
  const { data, ...others } = expect;
  const json = JSON.stringify(others);
  if (data === undefined) return json;
  return `${json.slice(0, -1)}${json === '{}' ? '' : ','}"data":${data}}`;
}
