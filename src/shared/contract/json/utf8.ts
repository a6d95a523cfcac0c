import { type TextFault, textFault } from '../../reasons/text-faults.ts';

type Text = { kind: 'text'; text: string };
type Wrong = { kind: 'wrong'; fault: TextFault };
type Decoded = Text | { kind: 'cut'; text: string } | Wrong;

const decoderOf = (fatal: boolean) => new TextDecoder('utf-8', { fatal, ignoreBOM: true });

/** UTF-8 bytes to text, never repairing anything. `cut`: valid so far, but the last character's bytes are incomplete. */
export function decodeUtf8(bytes: Uint8Array): Decoded {
  if (withoutMark(bytes) !== bytes) return wrong(textFault('byte-order-mark', {}));
  if (isUtf16(bytes)) return wrong(textFault('utf-16', {}));
  try {
    return { kind: 'text', text: decoderOf(true).decode(bytes) };
  } catch {
    try {
      return { kind: 'cut', text: decoderOf(true).decode(bytes, { stream: true }) };
    } catch {
      return wrongAt(bytes, firstWrong(bytes));
    }
  }
}

/** The same of a whole file or body, which ends with a character. */
export function decodeWhole(bytes: Uint8Array): Text | Wrong {
  const decoded = decodeUtf8(bytes);
  return decoded.kind === 'cut' ? wrongAt(bytes, firstWrong(bytes)) : decoded;
}

/** Without the byte order mark that Excel and Notepad write at the start of a file. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

const wrong = (found: TextFault): Wrong => ({ kind: 'wrong', fault: found });

/** By its byte order mark, or by the zeros of its first characters in ASCII. */
function isUtf16([first, second, third, fourth]: Uint8Array): boolean {
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  const littleEndian = second === 0 && fourth === 0 && first && third;
  const bigEndian = first === 0 && third === 0 && second && fourth;
  return Boolean(littleEndian || bigEndian);
}

function wrongAt(bytes: Uint8Array, at: number): Wrong {
  const before = bytes.subarray(0, at);
  const line = before.reduce((lines, byte) => (byte === 0x0a ? lines + 1 : lines), 1);
  const byte = at - before.lastIndexOf(0x0a);
  const value = `0x${(bytes[at] ?? 0).toString(16).padStart(2, '0')}`;
  return wrong(textFault('not-utf-8', { line, byte, value }));
}

/** The decoder does not tell where it failed. One that repairs puts U+FFFD there, which may also be in the text itself. */
function firstWrong(bytes: Uint8Array): number {
  const text = decoderOf(false).decode(bytes);
  let at = 0;
  for (let from = 0; ; ) {
    const next = text.indexOf('\ufffd', from);
    at += new TextEncoder().encode(text.slice(from, next)).length;
    if (bytes[at] !== 0xef || bytes[at + 1] !== 0xbf || bytes[at + 2] !== 0xbd) return at;
    at += 3;
    from = next + 1;
  }
}
