import type { RequestHandler } from 'express';

/** The day when security profiles were renamed to USG profiles, as a Unix time. */
const RENAMED_AT = Date.UTC(2026, 3, 23) / 1000;

/** Header of responses to requests that use the old name. @see RFC 9745, docs/api-conventions.md#deprecation */
export const DEPRECATION: Readonly<Record<string, string>> = { Deprecation: `@${RENAMED_AT}` };

const OLD_PATH = /^\/security-profiles(?=[/?]|$)/;

/** Makes deprecated names current, `%3A` a colon, and what cannot be decoded U+0000, which no id contains. */
export function normalizePath(): RequestHandler {
  return (req, res, next) => {
    const path = /^[^?]*/.exec(req.url)![0];
    if (path.includes('%')) req.url = decodable(path) + req.url.slice(path.length);
    if (OLD_PATH.test(req.url)) {
      req.url = req.url.replace(OLD_PATH, '/usg-profiles');
      res.set(DEPRECATION);
    }
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
