type Decoded = { kind: 'text'; text: string } | { kind: 'cut'; text: string } | { kind: 'wrong'; message: string };

/** UTF-8 bytes to text, never repairing anything. `cut`: valid so far, but the last character's bytes are incomplete. */
export function decodeUtf8(bytes: Uint8Array): Decoded {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return { kind: 'wrong', message: 'starts with a byte order mark; send UTF-8 without one' };
  }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return { kind: 'text', text: decoder.decode(bytes) };
  } catch {
    try {
      return {
        kind: 'cut',
        text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true }),
      };
    } catch {
      return { kind: 'wrong', message: 'is not valid UTF-8' };
    }
  }
}
