/** The memory that one call holds for its body. Each call of `share` needs a `close` of its own; the last one frees it. */
export type BodyLease = {
  /** False when all open bodies together would be larger than they may be. */
  grow(bytes: number): boolean;
  share(): void;
  close(): void;
};

export type OpenBodies = ReturnType<typeof createOpenBodies>;

/**
 * A bound for the bodies of all open calls together: those that are being read (`http/read-body.ts` grows the lease), and those whose calls
 * wait for their ending (`submit-execution.ts` shares it until then). Beyond `MAX_OPEN_BODY_BYTES`
 * (a sixteenth of the memory, 4 to 256 MiB) a call gets 503 `overloaded`.
 */
export function createOpenBodies(maxBytes: number) {
  let open = 0;
  return {
    get bytes() {
      return open;
    },
    lease(): BodyLease {
      let own = 0;
      let holders = 1;
      return {
        grow(bytes) {
          if (open + bytes > maxBytes) return false;
          own += bytes;
          open += bytes;
          return true;
        },
        share() {
          holders++;
        },
        close() {
          if (--holders > 0) return;
          open -= own;
          own = 0;
        },
      };
    },
  };
}
