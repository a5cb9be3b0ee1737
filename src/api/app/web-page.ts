import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Request, RequestHandler, Response } from 'express';
import { MethodNotAllowed } from '../http/middleware/error-handler.ts';

const DOCUMENT = '/index.html';
/** Vite puts the digest of each file below it into its name. */
const ASSETS = '/assets/';
/** Prefixes of addresses that are not the page's. */
const OTHERS =
  /^\/(?:api|assets|docs|codec|healthz|readyz|openapi\.json|ping|message-system|attachment|hash-id-databases)(?:\/|$)/;

const HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Content-Security-Policy': [
    "default-src 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "img-src 'self' data:",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
};

/** The encodings in which a build may have a file, the best first, with the ends of their names. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

interface PageFile {
  content: Buffer;
  encoded: ReadonlyMap<string, Buffer>;
  tag: string;
}

/**
 * Serves a built web page: its files, and its document at all addresses that a browser opens and nothing else has. The page
 * decides by the address what it shows. It stays in memory, because a newer build removes the folder.
 */
export function webPage(folder: string): RequestHandler {
  const files = readFiles(folder);
  const document = files.get(DOCUMENT);
  if (!document) throw new Error(`There is no web page in ${folder}`);
  return (req, res, next) => {
    const { path, method } = req;
    const file = path === '/' ? document : files.get(path);
    const isRead = method === 'GET' || method === 'HEAD';
    if (file && !isRead) throw new MethodNotAllowed(['GET']);
    if (file) sendFile(req, res, path === '/' ? DOCUMENT : path, file);
    else if (isRead && isOpenedByBrowser(req)) sendFile(req, res, DOCUMENT, document);
    else next();
  };
}

/** Programs that accept anything get the usual error. */
function isOpenedByBrowser(req: Request): boolean {
  return !OTHERS.test(req.path) && req.accepts(['json', 'html']) === 'html';
}

function sendFile(req: Request, res: Response, path: string, { content, encoded, tag }: PageFile): void {
  const [encoding] = ENCODINGS.find(([name]) => encoded.has(name) && req.acceptsEncodings(name)) ?? [];
  if (encoding) res.set('Content-Encoding', encoding);
  res
    .set(HEADERS)
    .set('X-Request-Id', res.locals.requestId)
    .set('Cache-Control', path.startsWith(ASSETS) ? 'public, max-age=31536000, immutable' : 'no-cache')
    .set('ETag', tag)
    .vary(path === DOCUMENT ? 'Accept, Accept-Encoding' : 'Accept-Encoding')
    .type(path.slice(path.lastIndexOf('.')))
    .send(encoding ? encoded.get(encoding) : content);
}

function readFiles(folder: string): ReadonlyMap<string, PageFile> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const contents = new Map(
    found.map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      return [`/${relative(folder, file).split(sep).join('/')}`, readFileSync(file)];
    }),
  );
  const isEncoded = (path: string) => ENCODINGS.some(([, end]) => path.endsWith(end));
  const plain = [...contents].filter(([path]) => !isEncoded(path));
  return new Map(
    plain.map(([path, content]) => {
      const variants = ENCODINGS.flatMap(([name, end]): [string, Buffer][] => {
        const variant = contents.get(`${path}${end}`);
        return variant ? [[name, variant]] : [];
      });
      return [path, { content, encoded: new Map(variants), tag: tagOf(content) }];
    }),
  );
}

/** Weak, because it is the same for all encodings. */
function tagOf(content: Buffer): string {
  return `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 16)}"`;
}
