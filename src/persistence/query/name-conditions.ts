import { containing } from '../database/sql.ts';
import type { Compilation } from './compilation.ts';

/** Hostname or title contains the text, in any case. */
export function keywordCondition(text: string, compilation: Compilation): string {
  const pattern = compilation.value(containing(text), 'text');
  return `(lower(c.hostname) like lower(${pattern}) or lower(c.title) like lower(${pattern}))`;
}

/** Hostname or title is the text, in any case. */
export function nameCondition(column: 'hostname' | 'title', text: string, compilation: Compilation): string {
  return `lower(c.${column}) = lower(${compilation.value(text, 'text')})`;
}

/** The computer has the tag; case-sensitive. */
export function tagCondition(tag: string, compilation: Compilation): string {
  return `c.tags @> array[${compilation.value(tag, 'text')}]`;
}

/** The annotation exists and, with `part`, has a value that contains it; case-sensitive. */
export function annotationCondition(key: string, part: string | null, compilation: Compilation): string {
  const name = compilation.value(key, 'text');
  if (part === null) return `c.annotations ? ${name}`;
  const found = `strpos(c.annotations ->> ${name}, ${compilation.value(part, 'text')}) > 0`;
  return `(c.annotations ? ${name} and coalesce(${found}, false))`;
}

/** The computer is in the access group of that name or, when `recursive`, in one below it. */
export function accessGroupCondition(name: string, recursive: boolean, compilation: Compilation): string {
  const root = `select id from access_group
    where account_id = ${compilation.account()} and name = ${compilation.value(name, 'text')}`;
  if (!recursive) return `c.access_group_id = any(array(${root}))`;
  return `c.access_group_id = any(array(
    with recursive below as (${root} union select g.id from access_group g join below on g.parent_id = below.id)
    select id from below))`;
}
