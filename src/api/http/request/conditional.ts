import type { Request, Response } from 'express';
import { NotModified } from '../handler.ts';

interface Tagged<T> {
  tag: string;
  value: T | null;
}

/**
 * Sets `ETag` and compares it with `If-None-Match`. @param read - gets the tags that the client knows, null for none, and
 * returns a null value when the present one is among them @see docs/api-conventions.md#conditional-requests
 */
export async function conditional<T, Body>(
  { request, response }: { request: Request; response: Response },
  read: (known: readonly string[] | null) => Promise<Tagged<T>>,
  toBody: (value: T) => Body,
): Promise<Body | NotModified> {
  const known = knownTags(request);
  const { tag, value } = await read(known === '*' ? null : known);
  // Weak: the digest of what a body is made from stays when its form changes.
  response.set('ETag', `W/"${tag}"`);
  return value === null || known === '*' ? new NotModified() : toBody(value);
}

const ENTITY_TAG = /(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;
/** More than any client has of one resource. */
const MAX_TAGS = 100;

/** The opaque tags of `If-None-Match`, which are compared weakly (RFC 9110, 13.1.2); null without any. */
export function knownTags(request: Pick<Request, 'get'>): readonly string[] | '*' | null {
  const header = request.get('If-None-Match');
  if (header === undefined) return null;
  if (header.trim() === '*') return '*';
  const tags = [...header.matchAll(ENTITY_TAG)].slice(0, MAX_TAGS).map(([, tag]) => tag!);
  return tags.length > 0 ? tags : null;
}
