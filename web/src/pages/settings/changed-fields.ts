/** The fields of a form that differ from what the server has. */
export function changedFields<T extends object>(draft: T, saved: T): Partial<T> {
  const isChanged = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(saved[name as keyof T]);
  return Object.fromEntries(Object.entries(draft).filter(isChanged)) as Partial<T>;
}
