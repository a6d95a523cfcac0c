/** Puts `text` into the part of a document that is measured, between the two comments that name it. The rest stays as it is. */
export function withMeasured(document: string, part: string, text: string): string {
  const [begin, end] = [`<!-- measured: ${part} -->\n`, `\n<!-- end of ${part} -->`];
  const [before = '', rest, ...more] = document.split(begin);
  const [, after, ...evenMore] = rest?.split(end) ?? [];
  if (after === undefined || more.length > 0 || evenMore.length > 0)
    throw new Error(`the document does not have one part "${part}" that is measured`);
  return `${before}${begin}\n${text}\n${end}${after}`;
}
