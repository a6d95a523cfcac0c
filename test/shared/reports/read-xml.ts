export type Element = { name: string; attributes: Record<string, string>; children: Element[]; text: string };

const TAG = /<(?:\?xml[^>]*\?|(\/)?([A-Za-z][\w-]*)((?:\s+[A-Za-z][\w-]*="[^"<]*")*)\s*(\/)?)>/g;
const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Reads XML of elements, attributes and text, strictly: what is not well-formed throws. */
export function readXml(xml: string): Element {
  if (/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(xml))
    throw new Error('a character XML cannot hold');
  const root: Element = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  let end = 0;
  for (const match of xml.matchAll(TAG)) {
    const [whole, closing, name, attributes = '', empty] = match;
    addText(open.at(-1), xml.slice(end, match.index));
    end = match.index + whole.length;
    if (name === undefined) continue;
    if (closing) {
      if (open.pop()?.name !== name) throw new Error(`</${name}> closes nothing`);
      continue;
    }
    const element: Element = { name, attributes: attributesOf(attributes), children: [], text: '' };
    open.at(-1)?.children.push(element);
    if (!empty) open.push(element);
  }
  const [only] = root.children;
  if (open.length !== 1 || !only || root.children.length !== 1 || xml.slice(end).trim() !== '')
    throw new Error('not well-formed');
  return only;
}

function addText(element: Element | undefined, raw: string): void {
  if (/[<]|\]\]>/.test(raw)) throw new Error(`text that must be escaped: ${raw}`);
  if (element) element.text += decoded(raw);
}

function attributesOf(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, name = '', value = ''] of text.matchAll(/([A-Za-z][\w-]*)="([^"]*)"/g)) {
    if (name in found) throw new Error(`${name} is given twice`);
    // An attribute's line breaks are spaces to a parser unless they are written as references.
    found[name] = decoded(value.replace(/[\t\n\r]/g, ' '));
  }
  return found;
}

function decoded(text: string): string {
  return text.replace(/&(?:#(\d+)|(\w+));|&/g, (whole, code?: string, name?: string) => {
    if (code !== undefined) return String.fromCodePoint(Number(code));
    const char = NAMED[name ?? ''];
    if (char === undefined) throw new Error(`not a reference: ${whole}`);
    return char;
  });
}
