/** Which part of a list is asked for: at most `limit` rows, those before `offset` left out. */
export interface PageRequest {
  limit: number;
  offset: number;
}
