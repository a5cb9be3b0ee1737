import { MAX_INT4 } from '../../../domain/common/integers.ts';
import { JsonText, type OperationId, type RequestContext } from '../handler.ts';

const MAX_LIMIT = 1000;

type PageContext = Pick<RequestContext<OperationId>, 'publicUrl' | 'request'> & {
  query: { limit?: number; offset?: number; after?: string };
};

/** A larger limit counts as 1000, so that `next` still walks the whole list; with 0 only the count is returned. */
export function pageOf({ query: { limit, offset } }: Pick<PageContext, 'query'>): { limit: number; offset: number } {
  return { limit: Math.min(limit ?? MAX_LIMIT, MAX_LIMIT), offset: offset ?? 0 };
}

/** The key after which the page starts; null for a cursor of another offset: clients may change that in a link. */
export function cursorOf(context: PageContext): number | null {
  const [, offset, key] = /^(\d{1,16})-(\d{1,10})$/.exec(context.query.after ?? '') ?? [];
  const isValid = Number(offset) === pageOf(context).offset && Number(key) <= MAX_INT4;
  return isValid ? Number(key) : null;
}

/** The envelope of a page, with absolute links that keep all other parameters. */
export function envelope<Row, Item>(
  context: PageContext,
  { count, results }: { count: number; results: readonly Row[] },
  toItem: (row: Row) => Item,
) {
  return { count, results: results.map((row) => toItem(row)), ...linksOf(context, count) };
}

/** The same of results that the database has rendered. @param list.nextPage - only for lists with a cursor */
export function jsonEnvelope(
  context: PageContext,
  { count, resultsJson, nextPage }: { count: number; resultsJson: string; nextPage?: NextPage },
): JsonText {
  const links = JSON.stringify(linksOf(context, count, nextPage)).slice(1);
  return new JsonText(`{"count":${count},"results":${resultsJson},${links}`);
}

type NextPage = { after: number } | null;

function linksOf(context: PageContext, count: number, nextPage?: NextPage) {
  const { limit, offset } = pageOf(context);
  const more = limit > 0 && (nextPage === undefined ? offset + limit < count : nextPage !== null);
  const cursor = nextPage && { after: `${offset + limit}-${nextPage.after}` };
  // Before a page past the end comes the last one.
  const last = Math.max(0, Math.floor((count - 1) / limit) * limit);
  const before = Math.max(0, Math.min(offset - limit, last));
  return {
    next: more ? pageLink(context, { limit, offset: offset + limit, ...cursor }) : null,
    previous: offset > 0 && limit > 0 ? pageLink(context, { limit, offset: before, after: null }) : null,
  };
}

function pageLink({ request, publicUrl }: PageContext, changes: Record<string, number | string | null>): string {
  // Further question marks belong to values.
  const [, path, query] = /^([^?]*)\??(.*)$/s.exec(request.originalUrl)!;
  const parameters = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) parameters.delete(name);
    else parameters.set(name, String(value));
  }
  return `${publicUrl}${path}?${parameters}`;
}
