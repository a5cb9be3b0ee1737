import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Request, RequestHandler, Response } from 'express';
import { DomainError } from '../../domain/common/errors.ts';
import type { Logger } from '../../process/logger.ts';
import type { Readiness } from '../../services/setup/readiness.service.ts';
import { MethodNotAllowed } from '../http/middleware/error-response.ts';
import { requestIdOf } from '../http/middleware/request-id.ts';
import { sendJson, toErrorResponse } from '../http/middleware/send.ts';
import { JsonText } from '../http/response-bodies.ts';
import type { OpenApiDocument } from '../openapi/document.ts';

interface StaticFile {
  type: string;
  content: string | Buffer;
}

type Page = (req: Request, res: Response, requestId: string) => Promise<void> | void;

const DOCS_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'",
};

/** `/healthz`, `/readyz` and, with a document, `/openapi.json`, `/docs` and its redirect `/`: GET, without a token. */
export function plainRoutes(deps: {
  document: OpenApiDocument | null;
  readiness: Readiness;
  logger: Logger;
}): RequestHandler {
  const pages = new Map<string, Page>();
  pages.set('/healthz', (req, res, requestId) =>
    sendJson(req, res, { status: 200, body: { alive: true }, headers: {}, requestId }),
  );
  pages.set('/readyz', async (req, res, requestId) => {
    const obstacles = await deps.readiness.check();
    if (obstacles.length > 0) throw notReady(obstacles);
    sendJson(req, res, { status: 200, body: { ready: true }, headers: {}, requestId });
  });
  if (deps.document) {
    const text = JSON.stringify(deps.document);
    pages.set('/openapi.json', (req, res, requestId) =>
      sendJson(req, res, { status: 200, body: new JsonText(text), headers: {}, requestId }),
    );
    for (const [path, page] of docsPages()) pages.set(path, serveFile(page));
    pages.set('/', (_req, res, requestId) => {
      res.writeHead(302, { Location: '/docs', 'Content-Length': 0, 'X-Request-Id': requestId }).end();
    });
  }

  return async (req, res, next) => {
    const page = pages.get(req.path.length > 1 ? req.path.replace(/\/$/, '') : req.path);
    if (!page) return next();
    const requestId = requestIdOf(req);
    try {
      if (req.method !== 'GET' && req.method !== 'HEAD') throw new MethodNotAllowed(['GET']);
      await page(req, res, requestId);
    } catch (error) {
      sendJson(req, res, { ...toErrorResponse(error, requestId, deps.logger), requestId });
    }
  };
}

function notReady(obstacles: ReadonlyArray<{ part: string; reason: string }>): DomainError {
  const details = obstacles.map(({ part, reason }) => ({ path: part, message: reason }));
  const message = details.map((d) => `${d.path}: ${d.message}`).join('; ');
  return new DomainError('ServiceUnavailable', `Not ready: ${message}`, { details, retryAfterSeconds: 1 });
}

function serveFile(page: StaticFile): Page {
  return (req, res, requestId) => {
    const length = Buffer.byteLength(page.content);
    res.writeHead(200, {
      ...DOCS_HEADERS,
      'X-Request-Id': requestId,
      'Content-Type': page.type,
      'Content-Length': length,
    });
    res.end(req.method === 'HEAD' ? undefined : page.content);
  };
}

/** Swagger UI, without scripts or styles of other hosts. */
function docsPages(): Array<[string, StaticFile]> {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const file = (name: string, type: string): [string, StaticFile] => [
    `/docs/${name}`,
    { type, content: readFileSync(join(folder, name)) },
  ];
  return [
    ['/docs', { type: 'text/html; charset=utf-8', content: DOCS_HTML }],
    ['/docs/start.js', { type: 'text/javascript; charset=utf-8', content: DOCS_START }],
    file('swagger-ui-bundle.js', 'text/javascript; charset=utf-8'),
    file('swagger-ui.css', 'text/css; charset=utf-8'),
    file('favicon-32x32.png', 'image/png'),
  ];
}

const DOCS_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Flotilla API reference</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const DOCS_START = `window.ui = SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', deepLinking: true, validatorUrl: null });
`;
