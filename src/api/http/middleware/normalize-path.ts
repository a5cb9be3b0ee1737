import type { RequestHandler } from 'express';
import { resolveDeprecatedPath } from '../deprecation.ts';

/**
 * Prepares the path for the routers: deprecated names become current ones, the colon of a verb may come as `%3A`, and
 * what cannot be decoded becomes U+0000, which no id contains.
 */
export function normalizePath(): RequestHandler {
  return (req, res, next) => {
    const end = req.url.indexOf('?');
    const sent = end === -1 ? req.url : req.url.slice(0, end);
    const { path, headers } = resolveDeprecatedPath(sent.includes('%') ? decodable(sent) : sent);
    if (path !== sent) req.url = end === -1 ? path : path + req.url.slice(end);
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    next();
  };
}

function decodable(path: string): string {
  return path.replace(/%3a/gi, ':').replace(/(?:%[0-9a-f]{2})+|%/gi, (encoded) => {
    try {
      decodeURIComponent(encoded);
      return encoded;
    } catch {
      return '%00';
    }
  });
}
