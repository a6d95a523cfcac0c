import { type Context, Hono } from 'hono';
import { MAX_CASES_BYTES } from '../../shared/cases/document/document.ts';
import { readCase } from '../../shared/cases/document/read-case.ts';
import { readMembers, readText } from '../../shared/cases/document/read-members.ts';
import { createRefusals } from '../../shared/cases/document/refusal.ts';
import { parseExact, scanJson } from '../../shared/contract/json/exact-json.ts';
import { stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { decodeWhole } from '../../shared/contract/json/utf8.ts';
import { savedCasesSchema } from '../../shared/contract/saved-cases.ts';
import { printAs } from '../../shared/contract/wire.ts';
import { type Problem, problemAt, problemOfFault } from '../../shared/reasons/problems.ts';
import { needs, refusedApp, tellAbout } from '../access/authenticate.ts';
import type { OpenBodies } from '../calls/admission.ts';
import { readBody } from '../calls/read-request.ts';
import { casesBody } from '../cases/case-bodies.ts';
import type { Change } from '../cases/document-tasks.ts';
import { casesParameters } from '../cases/parameters.ts';
import { type CasesOf, noneSaved, type Precondition, type SavedCases, type Saving } from '../cases/saved-cases.ts';
import type { Environment } from '../http/environment.ts';
import { readParameters } from '../http/parameters.ts';
import { badRequest, json, problem, refuseBody, respondToRefusal } from '../http/respond.ts';

type CasesDependencies = { savedCases: SavedCases; openBodies: OpenBodies };
type Read<T> = { kind: 'read'; value: T } | { kind: 'answered'; response: Response };

/** The saved cases of a rule or a node: read, replaced, changed case by case, removed. */
export function casesRoutes({ savedCases, openBodies }: CasesDependencies) {
  return new Hono<Environment>()
    .get('/cases', needs('read'), async (context) => {
      const which = readWhich(context);
      if (which.kind === 'answered') return which.response;
      const { app, ruleId, confId } = which.value;
      if (ruleId !== null || confId !== null) return show(context, which.value, savedCases);
      const listed = await savedCases.list(app);
      return listed.kind === 'found' ? json(200, listed.body) : respondToRefusal(listed);
    })
    .put('/cases', needs('cases'), async (context) => {
      const change = readConditions(context);
      if (change.kind === 'answered') return change.response;
      const body = await readBytes(context, openBodies);
      if (body.kind === 'answered') return body.response;
      const decoded = decodeWhole(body.value);
      if (decoded.kind !== 'text') return badRequest([problemOfFault('body', decoded.fault)]);
      const { cases, precondition } = change.value;
      return respondToSaving(await savedCases.replace(cases, precondition, decoded.text));
    })
    .post('/cases', needs('cases'), async (context) => {
      const change = readConditions(context);
      if (change.kind === 'answered') return change.response;
      const body = await readBytes(context, openBodies);
      if (body.kind === 'answered') return body.response;
      const read = readChange(body.value);
      if (read.kind === 'bad') return badRequest(read.problems);
      const { cases, precondition } = change.value;
      return respondToSaving(await savedCases.change(cases, precondition, read.change));
    })
    .delete('/cases', needs('cases'), async (context) => {
      const change = readConditions(context);
      if (change.kind === 'answered') return change.response;
      const { cases, precondition } = change.value;
      return respondToSaving(await savedCases.remove(cases, precondition));
    });
}

async function show(context: Context<Environment>, cases: CasesOf, savedCases: SavedCases): Promise<Response> {
  context.set('readsInput', true);
  if (wantsJson(context)) return showAsJson(cases, savedCases);
  const saved = await savedCases.read(cases);
  if (saved.kind === 'refused') return respondToRefusal(saved);
  if (saved.kind === 'none') return respondToRefusal(noneSaved(cases));
  const { text, etag } = saved;
  const headers = { etag, vary: 'accept', 'cache-control': 'private, no-cache' };
  const known = (context.req.header('if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(etag)) return new Response(null, { status: 304, headers });
  return new Response(text, { headers: { ...headers, 'content-type': 'application/yaml' } });
}

/** A page that cannot read YAML asks for JSON; a caller that takes any type gets the document itself. */
function wantsJson(context: Context<Environment>): boolean {
  return /^application\/json\b/.test(context.req.header('accept') ?? '');
}

async function showAsJson(cases: CasesOf, savedCases: SavedCases): Promise<Response> {
  const read = await savedCases.document(cases);
  if (read.kind === 'refused') return respondToRefusal(read);
  const headers = { vary: 'accept', 'cache-control': 'private, no-cache' };
  if (read.kind === 'none') return json(200, casesBody({ ignore: [], cases: [] }, null), headers);
  return json(200, casesBody(read.document, read.etag), headers);
}

function readWhich(context: Context<Environment>): Read<CasesOf> {
  const read = readParameters(casesParameters, context);
  if (read.kind === 'bad') return { kind: 'answered', response: badRequest(read.problems) };
  const notIts = refusedApp(context, read.value.app);
  if (read.value.ruleId !== null || read.value.confId !== null) tellAbout(context, read.value);
  return notIts ? { kind: 'answered', response: notIts } : read;
}

function readConditions(context: Context<Environment>): Read<{ cases: CasesOf; precondition: Precondition }> {
  const which = readWhich(context);
  if (which.kind === 'answered') return which;
  const answered = (response: Response) => ({ kind: 'answered', response }) as const;
  const cases = which.value;
  if (cases.ruleId === null && cases.confId === null)
    return answered(badRequest([problemAt('ruleId', 'required-unless', { instead: 'confId' })]));
  const read = readPrecondition(context.req.header('if-match'), context.req.header('if-none-match'));
  if (read.kind === 'missing') return answered(problem('precondition-missing', {}));
  if (read.kind === 'bad') return answered(badRequest([read.problem]));
  return { kind: 'read', value: { cases, precondition: read.precondition } };
}

async function readBytes(context: Context<Environment>, openBodies: OpenBodies): Promise<Read<Uint8Array>> {
  const lease = openBodies.lease();
  const body = await readBody(context.env.incoming, MAX_CASES_BYTES, lease).finally(() => lease.close());
  if (body.kind === 'complete') return { kind: 'read', value: body.bytes };
  return { kind: 'answered', response: refuseBody(body.kind, { maxBytes: MAX_CASES_BYTES }) };
}

function respondToSaving(saving: Saving): Response {
  switch (saving.kind) {
    case 'saved': {
      const { etag, cases } = saving;
      if (etag === null) return new Response(null, { status: 204 });
      return json(200, printAs(savedCasesSchema, { etag, cases }), { etag });
    }
    case 'bad':
      return badRequest(saving.problems);
    case 'changed': {
      const { etag, names: cases } = saving;
      const headers = etag === null ? {} : { etag };
      return problem(etag === null ? 'cases-gone' : 'cases-changed', {}, { headers, more: { etag, cases } });
    }
    case 'refused':
      return respondToRefusal(saving);
  }
}

/** The precondition of a change, in If-Match or If-None-Match (RFC 9110 §13.1). `missing`: it has none. */
type ReadPrecondition =
  | { kind: 'given'; precondition: Precondition }
  | { kind: 'missing' }
  | { kind: 'bad'; problem: Problem };

/** A gateway that compresses turns an ETag into a weak one (`W/`). Ours is a digest of the content, so a weak one names the same content. */
const TAG = /^(?:W\/)?("[\x21\x23-\x7e]*")$/;

/** Reads the precondition of a change to saved cases. */
function readPrecondition(ifMatch: string | undefined, ifNoneMatch: string | undefined): ReadPrecondition {
  if (ifMatch !== undefined) {
    const [, etag] = TAG.exec(ifMatch.trim()) ?? [];
    if (etag !== undefined) return { kind: 'given', precondition: { etag } };
    return bad('If-Match', 'etag');
  }
  if (ifNoneMatch === undefined) return { kind: 'missing' };
  if (ifNoneMatch.trim() === '*') return { kind: 'given', precondition: { etag: null } };
  return bad('If-None-Match', 'no-etag');
}

const bad = (field: string, expected: string): ReadPrecondition => ({
  kind: 'bad',
  problem: problemAt(field, 'invalid-format', { expected }),
});

/** Reads `{upsert, remove}`: a case as documents write it, and the name of one. Numbers stay as they are written. */
function readChange(bytes: Uint8Array): { kind: 'change'; change: Change } | { kind: 'bad'; problems: Problem[] } {
  const decoded = decodeWhole(bytes);
  if (decoded.kind === 'wrong') return { kind: 'bad', problems: [problemOfFault('body', decoded.fault)] };
  const scanned = scanJson(decoded.text);
  if (scanned.kind !== 'complete' || scanned.type !== 'object')
    return {
      kind: 'bad',
      problems: [problemAt('body', 'invalid-type', { expected: 'json-object', example: '{"upsert":{"name":"…"}}' })],
    };
  const faults = createRefusals();
  const members = readMembers(scanned.raw, ['upsert', 'remove'], faults.at());
  const remove = readText(members.get('remove')) ?? null;
  const given = members.get('upsert');
  const upsert = given
    ? { name: readCase(given.raw, { at: given.at }).name, json: stringifyExact(parseExact(given.raw)) }
    : null;
  if (upsert === null && remove === null) faults.at('upsert').refuse('no-change', {});
  const problems = [...scanned.duplicates.map((path) => problemAt(path, 'duplicate', {})), ...faults.all];
  return problems.length > 0 ? { kind: 'bad', problems } : { kind: 'change', change: { upsert, remove } };
}
