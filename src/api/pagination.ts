import type { RequestContext } from './handler.ts';
import { JsonText } from './json-text.ts';

const MAX_LIMIT = 1000;

export interface Page {
  limit: number;
  offset: number;
}

/** The page asked for; a larger limit counts as 1000, so that `next` still walks the whole list. @see api-decisions 2.2 */
export function pageOf(context: RequestContext): Page {
  const { limit, offset } = context.query as Partial<Page>;
  return { limit: Math.min(limit ?? MAX_LIMIT, MAX_LIMIT), offset: offset ?? 0 };
}

/**
 * The paginated envelope, with absolute links that keep all other parameters.
 *
 * @param publicUrl - base of links, without a trailing slash
 * @param list.results - rows, or their JSON array as made by the database
 */
export function envelope(
  context: RequestContext,
  publicUrl: string,
  list: { count: number; results: readonly unknown[] | JsonText },
) {
  const { limit, offset } = pageOf(context);
  const { count, results } = list;
  const next = offset + limit < count ? pageLink(context, publicUrl, limit, offset + limit) : null;
  const previous = offset > 0 ? pageLink(context, publicUrl, limit, Math.max(0, offset - limit)) : null;
  if (!(results instanceof JsonText)) return { count, results, next, previous };
  return new JsonText(
    `{"count":${count},"results":${results.text},"next":${JSON.stringify(next)},"previous":${JSON.stringify(previous)}}`,
  );
}

function pageLink(context: RequestContext, publicUrl: string, limit: number, offset: number): string {
  const [path, query] = context.request.originalUrl.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('limit', String(limit));
  parameters.set('offset', String(offset));
  return `${publicUrl}${path}?${parameters}`;
}
