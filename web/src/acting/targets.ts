import type { FlotillaClient } from '@flotilla/client';

/** The computers that an action is for: chosen ones, or all that a query finds. */
export type Targets = { ids: readonly number[] } | { query: string };

/** A computer that an action is about to be done on, as it was when it was counted. */
export interface Target {
  id: number;
  title: string;
  accessGroup: string;
  tags: readonly string[];
  isOffline: boolean;
  /** Only for actions on annotations. */
  annotations: Readonly<Record<string, string>>;
}

/** What the computers of an action are read with. */
export interface TargetOptions {
  targets: Targets;
  withAnnotations: boolean;
  withArchived: boolean;
}

/** Terms that the server accepts in one query. */
const MAX_TERMS = 200;
/** A longer list of ids would not fit into a URL. */
const MAX_PLAIN_IDS = 500;

/** The search parameters of the page that acts on these computers. */
export function searchOf(targets: Targets): { ids?: string | number; query?: string } {
  if ('query' in targets) return { query: targets.query };
  const [first] = targets.ids;
  // A single number is read back as a number.
  return { ids: targets.ids.length === 1 && first !== undefined ? first : formatIds(targets.ids) };
}

/** The computers that search parameters name; null without any. */
export function targetsOf({ ids, query }: { ids?: unknown; query?: unknown }): Targets | null {
  if (ids !== undefined) return { ids: parseIds(String(ids)) };
  return query === undefined ? null : { query: String(query) };
}

/** Reads `1,2,5-8`; what is no id is left out. */
export function parseIds(text: string): number[] {
  const ids = text.split(',').flatMap((part) => {
    const [, first, last = first] = /^\s*([1-9]\d{0,9})(?:-([1-9]\d{0,9}))?\s*$/.exec(part) ?? [];
    const count = Math.min(Number(last) - Number(first) + 1, 100_000);
    return count > 0 ? Array.from({ length: count }, (_, index) => Number(first) + index) : [];
  });
  return [...new Set(ids)];
}

/** Writes ids with commas; many of them in order, with ranges. */
export function formatIds(ids: readonly number[]): string {
  if (ids.length <= MAX_PLAIN_IDS) return ids.join(',');
  const ranges: Array<[first: number, last: number]> = [];
  for (const id of ids.toSorted((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range && id === range[1] + 1) range[1] = id;
    else ranges.push([id, id]);
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(',');
}

/** Queries that find exactly these computers, each as many as a query may name. */
export function queriesFor(ids: readonly number[]): string[] {
  return chunksOf(ids, MAX_TERMS).map((chunk) => chunk.map((id) => `id:${id}`).join(' OR '));
}

/** The items in their order, at most so many together. */
export function chunksOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}

/** Reads the computers, in the order of their ids. Those that do not exist are not among them. */
export async function readTargets(
  client: Pick<FlotillaClient, 'items'>,
  { targets, withAnnotations, withArchived }: TargetOptions,
  signal: AbortSignal,
): Promise<Target[]> {
  const found: Target[] = [];
  for (const query of 'query' in targets ? [targets.query] : queriesFor(targets.ids)) {
    const options = { with_alerts: true, with_annotations: withAnnotations, root_only: false };
    const status = withArchived && 'ids' in targets ? 'all' : 'active';
    const rows = client.items('/computers', { params: { query: { query, status, ...options } }, signal });
    for await (const { id, title, access_group, tags, alerts, annotations } of rows) {
      const isOffline = alerts?.some(({ type }) => type === 'ComputerOfflineAlert') ?? false;
      found.push({ id, title, accessGroup: access_group, tags, isOffline, annotations: annotations ?? {} });
    }
  }
  return found.toSorted((a, b) => a.id - b.id);
}
