export interface PageRequest {
  limit: number;
  offset: number;
}

export interface Paged<T> {
  count: number;
  results: T[];
}
