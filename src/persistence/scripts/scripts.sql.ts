import type { RunnableScript, ScriptStatus } from '../../domain/scripts/script.ts';
import type { PageRequest } from '../database/page.ts';
import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';
import { type GroupScope, groupsOf } from '../query/group-scope.ts';
import { ScriptVersion } from './script.entity.ts';

export interface PersonName {
  id: number;
  name: string;
}

export type ScriptRow = Omit<Row<'script'>, 'creator_id' | 'last_editor_id'> & {
  access_group: string;
  interpreter: string;
  created_by: PersonName;
  last_edited_by: PersonName;
  attachments: Array<{ id: number; filename: string }>;
  script_profiles: Array<{ id: number; title: string }>;
};

/** A script with the code of its latest version; null when it was redacted. */
export type ScriptWithCode = ScriptRow & { code: string | null };

type ScriptVersionRow = Omit<Row<'script_version'>, 'script_id' | 'creator_id'> & { created_by: PersonName };

export interface ScriptScope {
  accountId: number;
  view: GroupScope;
}

interface ScriptFilter extends ScriptScope, PageRequest {
  status: ScriptStatus | null;
  search: string | null;
}

/** One page of scripts, newest first, and the total number. */
export async function listScripts(sql: Sql, filter: ScriptFilter): Promise<{ count: number; rows: ScriptRow[] }> {
  const values = { ...filter, view: groupsOf(filter.view) };
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(`select count(*)::int as count from script s where ${MATCHING}`, values),
    sql.query<ScriptRow>(LIST, values),
  ]);
  return { count: counted[0]!.count, rows };
}

/** One script of an account in the visible access groups, or null. */
export async function findScript(sql: Sql, scope: ScriptScope, id: number): Promise<ScriptWithCode | null> {
  const rows = await sql.query<ScriptWithCode>(FIND, { ...scope, view: groupsOf(scope.view), id });
  return rows[0] ?? null;
}

/** A script to be run; null when it is not active. */
export async function readRunnableScript(sql: Sql, id: number): Promise<RunnableScript | null> {
  const rows = await sql.query<RunnableScript>(RUNNABLE, { id });
  return rows[0] ?? null;
}

/** One page of the versions of a script without their code, newest first, and the total number. */
export async function listScriptVersions(sql: Sql, scriptId: number, { limit, offset }: PageRequest) {
  const [count, rows] = await Promise.all([
    sql.em.count(ScriptVersion, { script: scriptId }),
    sql.query<ScriptVersionRow>(LIST_VERSIONS, { scriptId, limit, offset }),
  ]);
  return { count, rows };
}

/** With its code; null when the script has no such version. */
export async function findScriptVersion(sql: Sql, scriptId: number, version: number): Promise<ScriptVersionRow | null> {
  const rows = await sql.query<ScriptVersionRow>(
    `${versions('v.code')} where v.script_id = :scriptId and v.version = :version`,
    { scriptId, version },
  );
  return rows[0] ?? null;
}

const person = (column: string) =>
  `(select json_build_object('id', x.id, 'name', x.name) from person x where x.id = ${column})`;

const versions = (code: string) => `
  select v.version, v.title, v.interpreter, ${code} as code, ${person('v.creator_id')} as created_by, v.created_at
  from script_version v`;

const LIST_VERSIONS = `
  ${versions('null::text')} where v.script_id = :scriptId order by v.version desc limit :limit offset :offset`;

const ATTACHMENTS = `coalesce((
    select json_agg(json_build_object('id', f.id, 'filename', f.filename) order by f.id)
    from script_attachment f where f.script_id = s.id and f.current), '[]')`;

const COLUMNS = `
  select s.id, s.account_id, s.access_group_id, g.name as access_group, s.title, s.status, s.version, v.interpreter,
    s.time_limit, s.username, ${person('s.creator_id')} as created_by, s.created_at,
    ${person('s.last_editor_id')} as last_edited_by, s.last_edited_at, ${ATTACHMENTS} as attachments,
    coalesce((
      select json_agg(json_build_object('id', p.id, 'title', p.title) order by p.id)
      from script_profile p where p.script_id = s.id and not p.archived), '[]') as script_profiles`;

const SOURCE = `
  from script s join access_group g on g.id = s.access_group_id
  join script_version v on v.script_id = s.id and v.version = s.version`;

const VISIBLE = 's.account_id = :accountId and (:view::int[] is null or s.access_group_id = any(:view))';

const MATCHING = `${VISIBLE} and (:status::text is null or s.status = :status)
  and (:search::text is null or strpos(lower(s.title), lower(:search)) > 0)`;

const LIST = `
  with page as materialized (
    select s.id from script s where ${MATCHING} order by s.created_at desc, s.id desc limit :limit offset :offset)
  ${COLUMNS} ${SOURCE} where s.id in (select id from page) order by s.created_at desc, s.id desc`;

const FIND = `${COLUMNS}, v.code ${SOURCE} where ${VISIBLE} and s.id = :id`;

const RUNNABLE = `
  select s.id, s.version, s.title, v.interpreter, v.code, ${ATTACHMENTS} as attachments
  ${SOURCE} where s.id = :id and s.status = 'active'`;
