import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { RequestHandler, Router } from 'express';
import { DomainError } from '../../domain/common/errors.ts';
import type { Readiness } from '../../services/setup/readiness.service.ts';
import { createRouter, JsonText } from '../http/handler.ts';
import { MethodNotAllowed } from '../http/middleware/error-handler.ts';
import { requestId } from '../http/middleware/request-id.ts';
import { send } from '../http/send.ts';
import type { OpenApiDocument } from '../openapi/document.ts';

const DOCS_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'",
};

/** `/healthz`, `/readyz` and, with a document, `/openapi.json`, `/docs` and, without a web page, its redirect `/`: GET, without a token. */
export function plainRoutes(deps: {
  document: OpenApiDocument | null;
  readiness: Readiness;
  hasWebPage?: boolean;
}): Router {
  const router = createRouter().use(requestId());
  const page = (path: string, handler: RequestHandler) => router.get(path, handler).all(path, onlyGet);
  page('/healthz', (req, res) => send(req, res, 200, { alive: true }));
  page('/readyz', async (req, res) => {
    const failures = await deps.readiness.check();
    if (failures.length > 0) throw notReady(failures);
    send(req, res, 200, { ready: true });
  });
  if (deps.document) {
    const document = new JsonText(JSON.stringify(deps.document));
    page('/openapi.json', (req, res) => send(req, res, 200, document));
    if (!deps.hasWebPage) page('/', toDocs);
    const own = join(import.meta.dirname, 'docs');
    page('/docs', sendFile(own, 'index.html'));
    page('/docs/start.js', sendFile(own, 'start.js'));
    const swaggerUi = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
    for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png']) {
      page(`/docs/${name}`, sendFile(swaggerUi, name));
    }
  }
  return router;
}

const toDocs: RequestHandler = (_req, res) => {
  res.writeHead(302, { Location: '/docs', 'Content-Length': 0, 'X-Request-Id': res.locals.requestId }).end();
};

const onlyGet: RequestHandler = () => {
  throw new MethodNotAllowed(['GET']);
};

function notReady(failures: ReadonlyArray<{ part: string; reason: string }>): DomainError {
  const details = failures.map(({ part, reason }) => ({ path: part, message: reason }));
  const message = details.map((d) => `${d.path}: ${d.message}`).join('; ');
  return new DomainError('ServiceUnavailable', `Not ready: ${message}`, { details, retryAfterSeconds: 1 });
}

function sendFile(root: string, name: string): RequestHandler {
  return (_req, res) => {
    const headers = { ...DOCS_HEADERS, 'X-Request-Id': res.locals.requestId };
    res.sendFile(name, { root, headers, cacheControl: false, acceptRanges: false });
  };
}
