import type { Compilation } from './compilation.ts';

/** The computer is in the access group of that name or, when `recursive`, in one below it. */
export function accessGroupCondition(name: string, recursive: boolean, compilation: Compilation): string {
  const root = `select id from access_group
    where account_id = ${compilation.account()} and name = ${compilation.value(name, 'text')}`;
  if (!recursive) return `c.access_group_id = any(array(${root}))`;
  return `c.access_group_id = any(array(
    with recursive below as (${root} union select g.id from access_group g join below on g.parent_id = below.id)
    select id from below))`;
}
