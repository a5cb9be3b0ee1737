import type { ActingQuery } from '../../services/query/computer-queries.ts';

interface QueryFields {
  query: string;
  searches?: Readonly<Record<string, string>> | null;
}

export function readActingQuery({ query, searches }: QueryFields): ActingQuery {
  return { text: query, seen: new Map(Object.entries(searches ?? {})) };
}
