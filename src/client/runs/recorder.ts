import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ExactObject,
  type ExactValue,
  isExactObject,
  stringifyExact,
} from '../../shared/contract/json/raw-number.ts';
import { timeOfCase } from '../../shared/contract/time-of-case.ts';
import type { Ending } from '../engine/execution.ts';
import type { ExecutionRequest } from '../engine/run.ts';
import { replaceFile } from '../replace-file.ts';

/** The sample of real runs to record, and where. */
export type RecordOptions = {
  /** How many of the runs, from 0 to 1. */
  sample: number;
  /** Names of members whose values are replaced by `***`, at any depth of inputs and results. */
  mask?: readonly string[];
  /** The directory for the documents; made when it is not there. */
  to: string;
  /** How many cases of a rule one process writes; 100 when not said. */
  maxCases?: number;
};

/** A run that is recorded once it has ended. */
type Recording = { ended(ending: Ending, ts: bigint, data: ExactObject): void };

export type Recorder = ReturnType<typeof createRecorder>;

/** Beyond this a document is full: what reads it takes no more. */
const MAX_DOCUMENT_LENGTH = 1024 * 1024;
const MAX_DOCUMENTS = 100;
const DEFAULT_MAX_CASES = 100;
const MASKED = '***';
/** A case's expectation of a value that it must not show. */
const ANYTHING: ExactValue = { $any: true };

type Document = { path: string; head: string; cases: string[]; length: number; writing: Promise<void> };
type Around = { app: number; address: string; onError: (error: unknown) => void };

/**
 * Writes a sample of real runs as cases, one document for each rule: the input, the outcome, and the data that the rule changed.
 * Nothing waits for it, and errors go to `onError`. Throws when the directory cannot be made.
 */
export function createRecorder({ sample, mask = [], to, maxCases = DEFAULT_MAX_CASES }: RecordOptions, around: Around) {
  const masked = new Set(mask);
  const documents = new Map<string, Document>();
  mkdirSync(to, { recursive: true });

  function documentOf(name: string, head: string): Document | null {
    const known = documents.get(name);
    if (known || documents.size >= MAX_DOCUMENTS) return known ?? null;
    const path = join(to, `${name}.${around.address.replace(/[^\w.-]/g, '_')}.cases.json`);
    const document = { path, head, cases: [], length: head.length, writing: Promise.resolve() };
    documents.set(name, document);
    return document;
  }

  function add(document: Document, text: string): void {
    if (document.cases.length >= maxCases || document.length + text.length > MAX_DOCUMENT_LENGTH) return;
    document.cases.push(text);
    document.length += text.length + 2;
    const isLast = document.cases.length;
    document.writing = document.writing.then(async () => {
      // If another case came meanwhile, its turn writes both.
      if (document.cases.length === isLast)
        await replaceFile(document.path, `${document.head}${document.cases.join(',\n')}\n]}\n`).catch(around.onError);
    });
  }

  return {
    began(request: ExecutionRequest): Recording | null {
      if (request.stubs !== undefined || Math.random() >= sample) return null;
      const { ruleId, confId } = request;
      const id = ruleId === null ? `"confId":${confId}` : `"ruleId":${ruleId}`;
      // Cases are of a rule, or of a node by itself: a node inside a rule is neither.
      if (ruleId !== null && confId !== null) return null;
      const document = documentOf(
        id.replace(/["]/g, '').replace(/(Id)?:/, '-'),
        `{"app":${around.app},${id},"cases":[\n`,
      );
      if (document === null || document.cases.length >= maxCases) return null;
      // The run works on this very object.
      const before: ExactObject = { ...request.data };
      return {
        ended(ending, ts, data) {
          const expect = expectOf(ending, changedIn(before, data));
          if (expect === null) return;
          const name = JSON.stringify(`recorded ${new Date().toISOString()}, ${document.cases.length + 1}`);
          const input = stringifyExact(maskIn(before, masked, MASKED));
          add(
            document,
            `{"name":${name},"input":${input},"asOf":${timeOfCase(ts)},"expect":${stringifyExact(maskIn(expect, masked, ANYTHING))}}`,
          );
        },
      };
    },
    /** Resolves once everything recorded is written. */
    async close(): Promise<void> {
      await Promise.all([...documents.values()].map(({ writing }) => writing));
    },
  };
}

/** Null for what can be no case: nothing ran. */
function expectOf(ending: Ending, data: ExactObject): ExactObject | null {
  if (ending.kind === 'failed') return { outcome: 'ERROR' };
  if (ending.outcome === null) return null;
  return Object.keys(data).length > 0 ? { outcome: ending.outcome, data } : { outcome: ending.outcome };
}

/** The members that are not what they were. Containers on the way to a change are copied, never changed. */
function changedIn(before: ExactObject, after: ExactObject): ExactObject {
  return Object.fromEntries(Object.entries(after).filter(([key, value]) => before[key] !== value));
}

/** A copy in which the values of some members, wherever they are, cannot be read. */
function maskIn(value: ExactValue, names: ReadonlySet<string>, mask: ExactValue): ExactValue {
  if (Array.isArray(value)) return value.map((each) => maskIn(each, names, mask));
  if (!isExactObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, names.has(name) ? mask : maskIn(member, names, mask)]),
  );
}
