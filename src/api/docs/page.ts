import { html } from 'hono/html';
import { z } from 'zod';
import { whys } from '../../shared/reasons/causes.ts';
import { statusOf } from '../../shared/reasons/codes.ts';
import { endings } from '../../shared/reasons/endings.ts';
import { refusals } from '../../shared/reasons/refusals.ts';
import { withNames } from '../../shared/reasons/template.ts';
import { type createOpenApiDocument, operations } from '../openapi/document.ts';
import type { AnswerDoc, Operation } from '../openapi/operation.ts';
import { members, prose } from './members.ts';

type Document = ReturnType<typeof createOpenApiDocument>;

/** For the curl lines. `withKey`: a call needs a key. */
type Calling = { origin: string; withKey: boolean };

/** The OpenAPI document as one HTML page without scripts. */
export function docsPage({ info, tags, components, paths }: Document, caller: Calling) {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${info.title}: HTTP interface</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<div class="page">
<nav aria-label="Operations">
${tags.map(({ name }) => html`<strong>${name}</strong><ul>${operations.filter(({ tag }) => tag === name).map(link)}</ul>`)}
<a href="#codes">Codes</a>
<a href="#causes">Causes</a>
<a href="#schemas">Schemas</a>
</nav>
<main>
<h1>${info.title} <span class="quiet">${info.version}</span></h1>
${info.description.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>`)}
<p>The same for programs: <a href="/openapi.json">/openapi.json</a></p>
${operations.map((operation) => section(operation, paths, caller))}
<h2 id="codes">Codes</h2>
<p>What an answer says with <code>code</code> when there is none of a client, its status, and the sentence of each reason. Parts in brackets are there where their parameters are given. A 503 means that it did not run.</p>
${codeDocs().map(code)}
<h2 id="causes">Causes</h2>
<p>The values of the parameters <code>why</code>, <code>fault</code>, <code>problem</code>, <code>full</code>, <code>has</code>, <code>expected</code> and <code>received</code>, and of <code>code</code> in <code>errors</code>; a cause may have parameters of its own, beside them.</p>
${texts(Object.entries(whys).map(([reason, text]) => ({ reason, text: withNames(text) })))}
<h2 id="schemas">Schemas</h2>
${Object.entries(components.schemas).map(
  ([name, schema]) => html`<section id="schema-${name}"><h3>${name}</h3>${members(schema)}</section>`,
)}
</main>
</div>
</body>
</html>`;
}

function code({ name, statuses, texts: of }: CodeDoc) {
  return html`<section id="code-${name}"><h3><code>${name}</code> <span class="quiet">${statuses.join(', ')}</span></h3>
${texts(of)}</section>`;
}

function texts(list: CodeDoc['texts']) {
  return html`<ul>${list.map(({ reason, text }) => html`<li><code>${reason}</code>: ${text}</li>`)}</ul>`;
}

function link({ id, method, path }: Operation) {
  return html`<li><a href="#${id}"><span class="method">${method}</span> ${path}</a></li>`;
}

function section(operation: Operation, paths: Document['paths'], caller: Calling) {
  const { id, method, path, summary, description, body, answers } = operation;
  return html`<section id="${id}">
<h3><span class="method">${method}</span> <code>${path}</code></h3>
<p>${summary}.</p>
${description ? html`<p>${prose(description)}</p>` : ''}
${parameters(paths[path]?.[method]?.parameters ?? [])}
<h4>Try it</h4><pre>${curl(operation, caller)}</pre>
${body ? html`<h4>Body</h4>${schemaLinks(body.schema)}${details('Examples', body.examples)}` : ''}
<h4>Answers</h4>
<table><tbody>${Object.entries(answers).map(answer)}</tbody></table>
</section>`;
}

function parameters(list: Document['paths'][string][string]['parameters']) {
  if (list.length === 0) return '';
  return html`<h4>Parameters</h4><table><tbody>${list.map(
    (parameter) =>
      html`<tr><td><code>${parameter.name}</code></td><td class="quiet">${parameter.in}${parameter.required ? ', required' : ''}</td><td>${prose(parameter.description)}</td></tr>`,
  )}</tbody></table>`;
}

function answer([status, { description, schema, examples, problems }]: [string, AnswerDoc]) {
  return html`<tr><td><code>${status}</code></td><td>${prose(description)} ${schemaLinks(schema)}${examples ? details('Examples', { ...examples, ...problems }) : ''}</td></tr>`;
}

function schemaLinks(schema: z.ZodType | undefined) {
  const parts = schema instanceof z.ZodUnion ? schema.options : [schema];
  return parts.map((part) => {
    const id = part instanceof z.ZodType ? z.globalRegistry.get(part)?.id : undefined;
    return id === undefined ? '' : html`<a href="#schema-${id}">${id}</a> `;
  });
}

function details(title: string, examples: Record<string, unknown>) {
  const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));
  return html`<details><summary>${title}</summary>${Object.entries(examples).map(
    ([name, value]) => html`<p class="quiet">${name}</p><pre>${shown(value)}</pre>`,
  )}</details>`;
}

function curl(
  { method, path, queryExample, headers = [], body, open }: Operation,
  { origin, withKey }: Calling,
): string {
  const query = new URLSearchParams(Object.entries(queryExample ?? {}).map(([name, value]) => [name, String(value)]));
  const url = `${origin}${path.replace(/\{(\w+)\}/g, '$$$1')}${query.size > 0 ? `?${query}` : ''}`;
  const parts = ['curl', ...(method === 'get' ? [] : ['-X', method.toUpperCase()]), `"${url}"`];
  if (withKey && !open) parts.push('\\\n  -H "authorization: Bearer $RULE_SERVER_KEY"');
  const [example] = Object.values(body?.examples ?? {});
  const text = typeof example === 'string' ? example : JSON.stringify(example);
  for (const header of headers.filter(({ needed }) => needed))
    parts.push(`\\\n  -H '${header.name.toLowerCase()}: ${header.example}'`);
  if (body && text)
    parts.push(
      `\\\n  -H 'content-type: ${body.mediaType ?? 'application/json'}' --data-binary '${text.replaceAll("'", "'\\''")}'`,
    );
  return parts.join(' ');
}

/** One code on /docs: the `type` of a problem leads to its `#code-…`. */
type CodeDoc = { name: string; statuses: number[]; texts: { reason: string; text: string }[] };

function codeDocs(): CodeDoc[] {
  const docs = new Map<string, CodeDoc>();
  const add = (name: string, status: number, reason: string, text: string) => {
    const doc = docs.get(name) ?? { name, statuses: [], texts: [] };
    docs.set(name, doc);
    if (!doc.statuses.includes(status)) doc.statuses.push(status);
    doc.texts.push({ reason, text: withNames(text) });
  };
  for (const [reason, { code, ran, text }] of Object.entries(endings))
    add(code, statusOf({ code, mayHaveRun: ran !== 'no' }), reason, text);
  for (const [code, { status, text }] of Object.entries(refusals)) add(code, status, code, text);
  return [...docs.values()];
}
