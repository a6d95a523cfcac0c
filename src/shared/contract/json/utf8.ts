type Decoded = { kind: 'text'; text: string } | { kind: 'cut'; text: string } | { kind: 'wrong'; message: string };

const decoderOf = (fatal: boolean) => new TextDecoder('utf-8', { fatal, ignoreBOM: true });

/** UTF-8 bytes to text, never repairing anything. `cut`: valid so far, but the last character's bytes are incomplete. */
export function decodeUtf8(bytes: Uint8Array): Decoded {
  if (withoutMark(bytes) !== bytes)
    return { kind: 'wrong', message: 'starts with a byte order mark; send UTF-8 without one' };
  if (isUtf16(bytes)) return { kind: 'wrong', message: 'is UTF-16: save it as UTF-8' };
  try {
    return { kind: 'text', text: decoderOf(true).decode(bytes) };
  } catch {
    try {
      return { kind: 'cut', text: decoderOf(true).decode(bytes, { stream: true }) };
    } catch {
      return { kind: 'wrong', message: whereWrong(bytes) };
    }
  }
}

/** The same of a whole file or body, which ends with a character. */
export function decodeWhole(bytes: Uint8Array): Exclude<Decoded, { kind: 'cut' }> {
  const decoded = decodeUtf8(bytes);
  return decoded.kind === 'cut'
    ? { kind: 'wrong', message: 'is not valid UTF-8: it ends within a character' }
    : decoded;
}

/** Without the byte order mark that Excel and Notepad write at the start of a file. */
function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** By its byte order mark, or by the zeros of a first character in ASCII. */
function isUtf16([first, second]: Uint8Array): boolean {
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  return second !== undefined && (first === 0) !== (second === 0);
}

function whereWrong(bytes: Uint8Array): string {
  const at = firstWrong(bytes);
  const before = bytes.subarray(0, at);
  const line = before.reduce((lines, byte) => (byte === 0x0a ? lines + 1 : lines), 1);
  const byte = bytes[at]?.toString(16).padStart(2, '0');
  return `is not valid UTF-8: byte ${at - before.lastIndexOf(0x0a)} of line ${line} is 0x${byte}`;
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
