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
    const failures = await deps.readiness.check();
    if (failures.length > 0) throw notReady(failures);
    sendJson(req, res, { status: 200, body: { ready: true }, headers: {}, requestId });
  });
  if (deps.document) {
    const text = JSON.stringify(deps.document);
    pages.set('/openapi.json', (req, res, requestId) =>
      sendJson(req, res, { status: 200, body: new JsonText(text), headers: {}, requestId }),
    );
    for (const [path, page] of docsPages()) pages.set(path, page);
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

function notReady(failures: ReadonlyArray<{ part: string; reason: string }>): DomainError {
  const details = failures.map(({ part, reason }) => ({ path: part, message: reason }));
  const message = details.map((d) => `${d.path}: ${d.message}`).join('; ');
  return new DomainError('ServiceUnavailable', `Not ready: ${message}`, { details, retryAfterSeconds: 1 });
}

/** Swagger UI, without scripts or styles of other hosts. */
function docsPages(): Array<[string, Page]> {
  const own = join(import.meta.dirname, 'docs');
  const swaggerUi = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return [
    ['/docs', sendFile(own, 'index.html')],
    ['/docs/start.js', sendFile(own, 'start.js')],
    ...['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png'].map((name): [string, Page] => [
      `/docs/${name}`,
      sendFile(swaggerUi, name),
    ]),
  ];
}

function sendFile(root: string, name: string): Page {
  return (_req, res, requestId) => {
    const headers = { ...DOCS_HEADERS, 'X-Request-Id': requestId };
    return new Promise((resolve, reject) => {
      const done = (error?: NodeJS.ErrnoException) => {
        // A client that has disconnected needs no response.
        if (error && !res.headersSent && !res.destroyed) reject(error);
        else resolve();
      };
      res.sendFile(name, { root, headers, cacheControl: false, acceptRanges: false }, done);
    });
  };
}
