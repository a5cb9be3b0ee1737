/** Search parameters of a page: text and numbers, as each page defines them. */
export type PageSearch = Record<string, string | number | boolean | undefined>;

/** Keeps the parameters that are plain values; a page reads its own with {@link usePageSearch}. */
export function pageSearch(search: Record<string, unknown>): PageSearch {
  const isPlain = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);
  return Object.fromEntries(Object.entries(search).filter(([, value]) => isPlain(value))) as PageSearch;
}

/** Where to go after signing in; only paths of this page, never another site. */
export function signInSearch({ next }: Record<string, unknown>): { next?: string } {
  return typeof next === 'string' && /^\/(?![/\\])/.test(next) ? { next } : {};
}
