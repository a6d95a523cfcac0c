import { closeSync, openSync } from 'node:fs';
import { pino } from 'pino';
import { cut, visible } from '../../contract/json/visible-text.ts';
import { BadSettings } from '../settings/settings.ts';
import { LOGGED_LENGTH } from '../telemetry/logger.ts';

/** Who did what, from where, and how it ended; never inputs or results. */
type AuditEvent = {
  what: string;
  /** The name of the key or of the person; null when it is unknown. */
  who: string | null;
  from: string | null;
  app?: number | undefined;
  ruleId?: string | null | undefined;
  confId?: string | null | undefined;
  mockId?: string | undefined;
  batchId?: string | undefined;
  /** The paths of the input that were searched by, never the values. */
  paths?: string[] | undefined;
  outcome: string;
  /** How many calls this line stands for, if not one. */
  calls?: number;
  /** Names of keys that were changed. */
  keys?: object;
};

export type Audit = {
  /** Writes a line; nothing once the log is closed: refusals whose callers have hung up are told a moment later. */
  tell(event: AuditEvent): void;
  close(): void;
};

const noAudit: Audit = { tell() {}, close() {} };

/** The audit log (AUDIT_LOG): JSON lines added to a file, or to standard output for `-`. None without one. */
export function openAudit(to: string | undefined, onError: (error: unknown) => void): Audit {
  if (to === undefined) return noAudit;
  if (to !== '-') refuseUnwritable(to);
  // Synchronous, so that the line is written before the answer is sent.
  const lines = pino.destination({ dest: to === '-' ? 1 : to, append: true, sync: true });
  lines.on('error', onError);
  let isOpen = true;
  return {
    tell(event) {
      if (!isOpen) return;
      const line = { audit: new Date().toISOString(), ...event };
      const short = (_: string, value: unknown) => (typeof value === 'string' ? cut(value, LOGGED_LENGTH) : value);
      lines.write(`${visible(JSON.stringify(line, short))}\n`);
    },
    close() {
      isOpen = false;
      lines.end();
    },
  };
}

/** Throws `BadSettings` unless lines can be added to a file. */
export function refuseUnwritable(path: string): void {
  try {
    closeSync(openSync(path, 'a'));
  } catch (error) {
    throw new BadSettings(
      `AUDIT_LOG cannot be written: ${error instanceof Error ? error.message : error}. Name a file in a folder that is there, or - for standard output.`,
    );
  }
}
