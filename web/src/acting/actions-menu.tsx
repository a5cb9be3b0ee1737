/** The computers that an action is for: chosen ones, or all that a query finds. */
export type Targets = { ids: readonly number[] } | { query: string };

/** The menu button "Actions" of a selection: each opens its form, `/act/<action>?ids=...` or `?query=...`. */
export function ActionsMenu(_props: { targets: Targets; count: number }) {
  return null;
}
