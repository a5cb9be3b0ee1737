import type { Request } from 'express';
import { MAX_INT4 } from '../../../domain/common/integers.ts';
import { JsonText } from '../response-bodies.ts';

const MAX_LIMIT = 1000;

export interface Page {
  limit: number;
  offset: number;
}

/** A request for a page of a list. */
export interface PageRequest {
  query: { limit?: number; offset?: number; after?: string };
  request: Pick<Request, 'originalUrl'>;
}

/** A larger limit counts as 1000, so that `next` still walks the whole list; with 0 only the count is returned. */
export function pageOf({ query: { limit, offset } }: Pick<PageRequest, 'query'>): Page {
  return { limit: Math.min(limit ?? MAX_LIMIT, MAX_LIMIT), offset: offset ?? 0 };
}

/**
 * The key after which the page starts, from the cursor in a link. The cursor is ignored unless the offset is the one it
 * was created for, so that a client can change the offset in a link.
 */
export function cursorOf(context: PageRequest): number | null {
  const [, offset, key] = /^(\d{1,16})-(\d{1,10})$/.exec(context.query.after ?? '') ?? [];
  const isValid = Number(offset) === pageOf(context).offset && Number(key) <= MAX_INT4;
  return isValid ? Number(key) : null;
}

/** For lists with a cursor: the key after which the next page starts; null when there is none. */
export type NextPage = { after: number } | null;

/**
 * The paginated envelope, with absolute links that keep all other parameters.
 * @param publicUrl - base of links, without a trailing slash
 * @param list.results - rows, or a JSON array built by the database
 * @param list.nextPage - only for lists with a cursor; otherwise `count` decides whether there is a next page
 */
export function envelope<Row>(
  context: PageRequest,
  publicUrl: string,
  list: { count: number; results: Row[]; nextPage?: NextPage },
): { count: number; results: Row[]; next: string | null; previous: string | null };
export function envelope(
  context: PageRequest,
  publicUrl: string,
  list: { count: number; results: JsonText; nextPage?: NextPage },
): JsonText;
export function envelope(
  context: PageRequest,
  publicUrl: string,
  list: { count: number; results: unknown[] | JsonText; nextPage?: NextPage },
) {
  const { limit, offset } = pageOf(context);
  const { count, results, nextPage } = list;
  const more = limit > 0 && (nextPage === undefined ? offset + limit < count : nextPage !== null);
  const cursor = nextPage && { after: `${offset + limit}-${nextPage.after}` };
  const next = more ? pageLink(context, publicUrl, { limit, offset: offset + limit, ...cursor }) : null;
  const before = { limit, offset: offsetBefore(limit, offset, count), ...(nextPage !== undefined && { after: null }) };
  const previous = offset > 0 && limit > 0 ? pageLink(context, publicUrl, before) : null;
  if (!(results instanceof JsonText)) return { count, results, next, previous };
  return new JsonText(
    `{"count":${count},"results":${results.text},"next":${JSON.stringify(next)},"previous":${JSON.stringify(previous)}}`,
  );
}

/** Offset of the previous page; before a page past the end comes the last one. */
function offsetBefore(limit: number, offset: number, count: number): number {
  const last = Math.max(0, Math.floor((count - 1) / limit) * limit);
  return Math.max(0, Math.min(offset - limit, last));
}

/** The URL of the request with changed parameters; null removes one. */
function pageLink(context: PageRequest, publicUrl: string, changes: Record<string, number | string | null>): string {
  const { originalUrl } = context.request;
  // Further question marks belong to values.
  const mark = originalUrl.indexOf('?');
  const path = mark < 0 ? originalUrl : originalUrl.slice(0, mark);
  const parameters = new URLSearchParams(mark < 0 ? '' : originalUrl.slice(mark + 1));
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) parameters.delete(name);
    else parameters.set(name, String(value));
  }
  return `${publicUrl}${path}?${parameters}`;
}
