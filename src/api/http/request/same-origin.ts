import type { Request } from 'express';
import { DomainError } from '../../../domain/common/errors.ts';

const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Rejects what pages of other origins may have a browser send along with its session. @param isRead - whether the request changes nothing;
 * any other needs `X-Requested-With`, which such a page cannot add. @throws {DomainError} CrossSiteRequest
 */
export function requireSameOrigin({ headers }: Pick<Request, 'headers'>, publicUrl: string, isRead: boolean): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && !OWN_SITES.has(String(site))) {
    throw new DomainError('CrossSiteRequest', 'A session in a cookie cannot be used from another site');
  }
  const { origin } = headers;
  if (origin !== undefined && !isOwnOrigin(origin, headers.host ?? '', publicUrl)) {
    throw new DomainError('CrossSiteRequest', 'The Origin of a request with a session in a cookie must be this server');
  }
  if (!isRead && !headers['x-requested-with']) {
    throw new DomainError('CrossSiteRequest', 'With a session in a cookie this needs the header X-Requested-With');
  }
}

function isOwnOrigin(origin: string, host: string, publicUrl: string): boolean {
  const given = URL.parse(origin);
  // `null` is the origin of files and sandboxed frames.
  if (given === null) return false;
  return given.host === URL.parse(`${given.protocol}//${host}`)?.host || given.origin === URL.parse(publicUrl)?.origin;
}
