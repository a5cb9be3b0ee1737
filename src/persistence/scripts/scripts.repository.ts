import type { RunnableScript, ScriptBody, ScriptStatus } from '../../domain/scripts/script.ts';
import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import { type GroupScope, groupsOf } from '../query/group-scope.ts';

export interface PersonName {
  id: number;
  name: string;
}

/** A script without its code, for lists. */
export interface ScriptRow {
  id: number;
  account_id: number;
  access_group_id: number;
  access_group: string;
  title: string;
  status: ScriptStatus;
  version: number;
  interpreter: string;
  time_limit: number;
  username: string;
  created_by: PersonName;
  created_at: Date;
  last_edited_by: PersonName;
  last_edited_at: Date;
  attachments: Array<{ id: number; filename: string }>;
  /** Active ones, by id. */
  script_profiles: Array<{ id: number; title: string }>;
}

/** A script with the code of its latest version; null when it was redacted. */
export type ScriptWithCode = ScriptRow & { code: string | null };

export interface ScriptVersionRow {
  version: number;
  title: string;
  interpreter: string;
  code: string | null;
  created_by: PersonName;
  created_at: Date;
}

export interface ScriptScope {
  accountId: number;
  view: GroupScope;
}

export interface ScriptFilter extends ScriptScope {
  /** Null for all. */
  status: ScriptStatus | null;
  /** Case-insensitive part of the title; null for all. */
  search: string | null;
}

/** One page of scripts, newest first, and the total number. */
export async function listScripts(
  sql: Sql,
  filter: ScriptFilter,
  page: PageRequest,
): Promise<{ count: number; rows: ScriptRow[] }> {
  const values = [...scopeValues(filter), filter.status, filter.search];
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(`select count(*)::int as count from script s where ${MATCHING}`, values),
    sql.query<ScriptRow>(LIST, [...values, page.limit, page.offset]),
  ]);
  return { count: counted[0]!.count, rows };
}

/** One script of an account in the visible access groups, or null. */
export async function findScript(sql: Sql, scope: ScriptScope, id: number): Promise<ScriptWithCode | null> {
  const rows = await sql.query<ScriptWithCode>(FIND, [...scopeValues(scope), id]);
  return rows[0] ?? null;
}

/** Locks a script: `change` exclusively, `use` against changes. @returns its state under the lock; null if missing */
export async function lockScript(tx: Sql, id: number, purpose: 'change' | 'use'): Promise<ScriptStatus | null> {
  const rows = await tx.query<{ status: ScriptStatus }>(
    `select status from script where id = :id for ${purpose === 'change' ? 'update' : 'share'}`,
    { id },
  );
  return rows[0]?.status ?? null;
}

/** A script to be run; null when it is not active. */
export async function readRunnableScript(sql: Sql, id: number): Promise<RunnableScript | null> {
  const rows = await sql.query<RunnableScript>(RUNNABLE, { id });
  return rows[0] ?? null;
}

export interface NewScript extends ScriptBody {
  accountId: number;
  accessGroupId: number;
  title: string;
  timeLimit: number;
  username: string;
  creatorId: number;
  now: Date;
}

/** @returns id of the new script. @throws a violation of `script_title` when another active one has the title */
export async function insertScript(tx: Sql, script: NewScript): Promise<number> {
  const { accountId, accessGroupId, title, timeLimit, username, creatorId, now } = script;
  const [row] = await tx.query<{ id: number }>(
    `insert into script (account_id, access_group_id, title, time_limit, username, creator_id, created_at,
       last_editor_id, last_edited_at)
     values (:accountId, :accessGroupId, :title, :timeLimit, :username, :creatorId, :now, :creatorId, :now) returning id`,
    { accountId, accessGroupId, title, timeLimit, username, creatorId, now },
  );
  await insertScriptVersion(tx, row!.id, { ...script, version: 1, editorId: creatorId });
  return row!.id;
}

export async function insertScriptVersion(
  tx: Sql,
  scriptId: number,
  version: ScriptBody & { version: number; title: string; editorId: number; now: Date },
): Promise<void> {
  await tx.query(
    `insert into script_version (script_id, version, title, interpreter, code, creator_id, created_at)
     values (:scriptId, :version, :title, :interpreter, :code, :editorId, :now)`,
    { ...version, scriptId },
  );
}

export interface ScriptChange {
  title?: string;
  timeLimit?: number;
  username?: string;
  version?: number;
  status?: ScriptStatus;
  accessGroupId?: number;
}

/** Changes the given fields. @throws a violation of `script_title` when another active one has the title */
export async function updateScript(
  tx: Sql,
  id: number,
  change: ScriptChange,
  edit: { editorId: number; now: Date },
): Promise<void> {
  await tx.query(UPDATE, {
    id,
    title: change.title ?? null,
    timeLimit: change.timeLimit ?? null,
    username: change.username ?? null,
    version: change.version ?? null,
    status: change.status ?? null,
    editorId: edit.editorId,
    now: edit.now,
    accessGroupId: change.accessGroupId ?? null,
  });
}

/** One page of the versions of a script without their code, newest first, and the total number. */
export async function listScriptVersions(
  sql: Sql,
  scriptId: number,
  page: PageRequest,
): Promise<{ count: number; rows: ScriptVersionRow[] }> {
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>('select count(*)::int as count from script_version where script_id = :scriptId', {
      scriptId,
    }),
    sql.query<ScriptVersionRow>(
      `${versions('null::text')} where v.script_id = :scriptId order by v.version desc limit :limit offset :offset`,
      { scriptId, limit: page.limit, offset: page.offset },
    ),
  ]);
  return { count: counted[0]!.count, rows };
}

export async function findScriptVersion(sql: Sql, scriptId: number, version: number): Promise<ScriptVersionRow | null> {
  const rows = await sql.query<ScriptVersionRow>(
    `${versions('v.code')} where v.script_id = :scriptId and v.version = :version`,
    { scriptId, version },
  );
  return rows[0] ?? null;
}

function scopeValues({ accountId, view }: ScriptScope): [number, readonly number[] | null] {
  return [accountId, groupsOf(view)];
}

const person = (column: string) =>
  `(select json_build_object('id', x.id, 'name', x.name) from person x where x.id = ${column})`;

const versions = (code: string) => `
  select v.version, v.title, v.interpreter, ${code} as code, ${person('v.creator_id')} as created_by, v.created_at
  from script_version v`;

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

const VISIBLE = 's.account_id = $1 and ($2::int[] is null or s.access_group_id = any($2))';

const MATCHING = `${VISIBLE} and ($3::text is null or s.status = $3)
  and ($4::text is null or strpos(lower(s.title), lower($4)) > 0)`;

const LIST = `
  with page as materialized (
    select s.id from script s where ${MATCHING} order by s.created_at desc, s.id desc limit $5 offset $6)
  ${COLUMNS} ${SOURCE} where s.id in (select id from page) order by s.created_at desc, s.id desc`;

const FIND = `${COLUMNS}, v.code ${SOURCE} where ${VISIBLE} and s.id = $3`;

const RUNNABLE = `
  select s.id, s.version, s.title, v.interpreter, v.code, ${ATTACHMENTS} as attachments
  ${SOURCE} where s.id = :id and s.status = 'active'`;

const UPDATE = `
  update script set title = coalesce(:title, title), time_limit = coalesce(:timeLimit, time_limit),
    username = coalesce(:username, username), version = coalesce(:version, version), status = coalesce(:status, status),
    access_group_id = coalesce(:accessGroupId, access_group_id), last_editor_id = :editorId, last_edited_at = :now
  where id = :id`;
