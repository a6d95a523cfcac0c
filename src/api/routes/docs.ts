import { Hono } from 'hono';
import { version } from '../../version.ts';
import { docsPage } from '../docs/page.ts';
import { style } from '../docs/style.ts';
import type { Environment } from '../environment.ts';
import { createOpenApiDocument } from '../openapi/document.ts';
import { json } from '../respond.ts';

/** The interface's description: /openapi.json for programs, /docs for people. */
export function docsRoutes() {
  const description = createOpenApiDocument(version);
  const text = JSON.stringify(description);
  const page = docsPage(description);
  return new Hono<Environment>()
    .get('/openapi.json', () => json(200, text))
    .get('/docs', (context) => context.html(page))
    .get('/docs/style.css', (context) => context.body(style, 200, { 'content-type': 'text/css; charset=utf-8' }));
}
