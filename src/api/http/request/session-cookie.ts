import type { CookieOptions, Request, Response } from 'express';

/** A token, and in how many seconds it expires. */
interface IssuedToken {
  token: string;
  lifeSeconds: number;
}

/** The token of a browser's session; null without its cookie. */
export function readSessionCookie({ headers }: Pick<Request, 'headers'>, publicUrl: string): string | null {
  const start = `${cookieName(publicUrl)}=`;
  const found = headers.cookie?.split(/;\s*/).find((pair) => pair.startsWith(start));
  return found === undefined ? null : found.slice(start.length);
}

/** Has the browser send a token with its requests until it expires. Scripts cannot read it. */
export function setSessionCookie(response: Response, publicUrl: string, { token, lifeSeconds }: IssuedToken): void {
  response.cookie(cookieName(publicUrl), token, { ...attributes(publicUrl), maxAge: lifeSeconds * 1000 });
}

/** Deletes the cookie with the token. */
export function clearSessionCookie(response: Response, publicUrl: string): void {
  response.clearCookie(cookieName(publicUrl), attributes(publicUrl));
}

/** A name with the prefix is accepted from this host by TLS only: no other host of the domain can set it. @see RFC 6265bis */
function cookieName(publicUrl: string): string {
  return isByTls(publicUrl) ? '__Host-flotilla_session' : 'flotilla_session';
}

function attributes(publicUrl: string): CookieOptions {
  return { httpOnly: true, sameSite: 'strict', secure: isByTls(publicUrl), path: '/' };
}

function isByTls(publicUrl: string): boolean {
  return publicUrl.startsWith('https:');
}
