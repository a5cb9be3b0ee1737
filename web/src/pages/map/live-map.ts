import type { CloudEvent } from '@flotilla/client';

/** At most so many computers are read by their ids: a query has a limited number of terms. */
const MAX_IDS = 100;

/** What has to be read again: nothing, some computers, or all. */
export type Stale = 'all' | ReadonlySet<number>;

export const NOTHING: Stale = new Set<number>();

const STRUCTURAL = new Set(['tags', 'access_group', 'archived', 'parent']);

/**
 * What an event may have changed on a map.
 * @param color - as in the address, such as `activity:7`
 * @param query - of the map: with one, anything may decide whether a computer is on it
 */
export function staleBy(event: CloudEvent, color: string, query: string): Stale {
  const data = event.data as { computer_id?: number | null; activity_id?: number | null; changed?: string[] };
  const computer = new Set(data.computer_id == null ? [] : [data.computer_id]);
  switch (event.type) {
    case 'computer.enrolled':
    case 'computer.removed':
      return 'all';
    case 'computer.changed':
      return data.changed?.some((field) => STRUCTURAL.has(field)) ? 'all' : computer;
    case 'alert.raised':
    case 'alert.resolved':
      return color === 'state' || query !== '' ? computer : NOTHING;
    case 'operation.delivered':
    case 'operation.ended':
      return color === `activity:${data.activity_id}` || color === 'compliance' || query !== '' ? computer : NOTHING;
    default:
      return NOTHING;
  }
}

/** Both together; all of them when they are many. */
export function both(one: Stale, other: Stale): Stale {
  if (one === 'all' || other === 'all') return 'all';
  const ids = new Set([...one, ...other]);
  return ids.size > MAX_IDS ? 'all' : ids;
}

/** The query that finds those of the computers that another query finds. */
export function queryOfIds(query: string, ids: Iterable<number>): string {
  return `${query} ${Array.from(ids, (id) => `id:${id}`).join(' OR ')}`.trim();
}
