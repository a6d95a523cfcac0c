import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Case } from '../../shared/cases/case.ts';
import { readDocument } from '../../shared/cases/document/document.ts';
import { refusalLines } from '../../shared/cases/document/refusal.ts';
import { readYaml } from '../../shared/cases/document/yaml-text.ts';
import type { Conclusion } from '../../shared/conclusions/conclusion.ts';
import { readText } from '../../shared/runtime/read-text.ts';
import { exitCodeOfAnswer, exitCodes } from '../terminal/exit-codes.ts';
import { errorOf, type HttpApi } from '../terminal/http-api.ts';
import { CommandFailed } from '../terminal/surroundings.ts';

/** The place of a document: a file, or the service, which saved it under an ETag. */
type Origin = { kind: 'file'; path: string } | { kind: 'saved'; etag: string };
/** The cases of one document that are to be run, and on what. Ids are decimal text. */
export type Suite = {
  origin: Origin;
  text: string;
  app: string;
  ruleId: string | null;
  confId: string | null;
  /** Paths in the data that comparisons ignore. */
  ignore: string[];
  /** All of the document, in its order; `run` says which of them are run. */
  cases: Case[];
  run: Case[];
  /** The result of a saved run, in the place of expectations. */
  before?: Conclusion;
};

/** The rule or node whose cases the command line names. */
export type Which = { app?: string; ruleId?: string; confId?: string };

const IS_CASES = /\.cases\.(?:ya?ml|json)$/;

/** Reads the documents at these paths; in a directory all `*.cases.yaml`, `.yml` and `.json`, also further down. */
export async function readSuites(paths: readonly string[], which: Which): Promise<Suite[]> {
  const files = (await Promise.all(paths.map(filesAt))).flat();
  return Promise.all(
    files.map(async (path) =>
      suiteOf(await readText(path).catch((error) => cannotRead(path, error)), { kind: 'file', path }, which),
    ),
  );
}

/** The cases that are saved at the service. */
export async function readSavedSuite(api: HttpApi, which: Which): Promise<Suite> {
  const response = await api.open(`/rule-server/mock/cases?${queryOf(which)}`);
  const text = await response.text();
  if (!response.ok) throw new CommandFailed(errorOf(text), exitCodeOfAnswer(response.status));
  return suiteOf(text, { kind: 'saved', etag: response.headers.get('etag') ?? '' }, which);
}

/** Keeps the cases whose name or a tag contains `text`. */
export function filtered(suite: Suite, text: string): Suite {
  const wanted = text.toLowerCase();
  const run = suite.cases.filter(({ name, tags }) =>
    [name, ...tags].some((each) => each.toLowerCase().includes(wanted)),
  );
  return { ...suite, run };
}

/** `?app=&ruleId=|confId=` */
export function queryOf({ app = '', ruleId, confId }: Which): string {
  const parameters = { app, ...(ruleId !== undefined && { ruleId }), ...(confId !== undefined && { confId }) };
  return new URLSearchParams(parameters).toString();
}

/** The name of a suite for people. */
export function labelOf({ origin, app, ruleId, confId }: Suite): string {
  const subject = `app ${app} ${ruleId === null ? `node ${confId}` : `rule ${ruleId}`}`;
  return origin.kind === 'file' ? `${origin.path} (${subject})` : `the saved cases of ${subject}`;
}

async function filesAt(path: string): Promise<string[]> {
  const found = await stat(path).catch((error) => cannotRead(path, error));
  if (!found.isDirectory()) return [path];
  const names = await readdir(path, { recursive: true });
  return names
    .filter((name) => IS_CASES.test(name) && !name.includes('node_modules'))
    .sort()
    .map((name) => join(path, name));
}

function cannotRead(path: string, error: Error): never {
  throw new CommandFailed(`${path} cannot be read: ${error.message}`, exitCodes.usage);
}

function suiteOf(text: string, origin: Origin, which: Which): Suite {
  const name = origin.kind === 'file' ? origin.path : 'saved cases';
  const yaml = readYaml(text);
  const read = yaml.kind === 'read' ? readDocument(yaml.json, yaml.lineOf) : yaml;
  if (read.kind === 'refused') throw new CommandFailed(refusalLines(name, read.refusals), exitCodes.usage);
  const { app, ruleId, confId, ignore, cases } = read.document;
  const [subjectApp, rule, node] = [which.app ?? app, which.ruleId ?? ruleId, which.confId ?? confId];
  if (subjectApp === null) throw new CommandFailed(`${name} names no app: add one, or give --app.`, exitCodes.usage);
  if ((rule ?? node) === null)
    throw new CommandFailed(
      `${name} names no ruleId or confId: add one, or give --rule-id or --conf-id.`,
      exitCodes.usage,
    );
  return { origin, text, app: String(subjectApp), ruleId: rule, confId: node, ignore, cases, run: cases };
}
