import { Hono } from 'hono';
import { version } from '../../version.ts';
import { docsPage } from '../docs/page.ts';
import { style } from '../docs/style.ts';
import type { Environment } from '../http/environment.ts';
import { json } from '../http/respond.ts';
import { createOpenApiDocument } from '../openapi/document.ts';

/** The interface's description: /openapi.json for programs, /docs for people. Made when somebody first asks for it. */
export function docsRoutes() {
  let made: { text: string; page: ReturnType<typeof docsPage> } | undefined;
  const description = () => {
    if (made) return made;
    const document = createOpenApiDocument(version);
    made = { text: JSON.stringify(document), page: docsPage(document) };
    return made;
  };
  return new Hono<Environment>()
    .get('/openapi.json', () => json(200, description().text))
    .get('/docs', (context) => context.html(description().page))
    .get('/docs/style.css', (context) => context.body(style, 200, { 'content-type': 'text/css; charset=utf-8' }));
}
