export type GroupScope = 'all' | readonly number[];

/** As an SQL parameter: null for the whole account. */
export function groupsOf(scope: GroupScope): readonly number[] | null {
  return scope === 'all' ? null : scope;
}
