import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { StackError } from '../stack-error.ts';

/** A role that owns its databases and has no rights outside them. */
export interface DatabaseRole {
  name: string;
  password: string;
  databases: readonly string[];
  /** Parameters that functions of its databases set, for which PostgreSQL requires a grant. */
  parameters?: readonly string[];
}

/** How to log in to a server of ours. */
export interface RoleServer {
  port: number;
  /** Of `postgres`, the role that the server starts with. */
  superuserPassword: string;
}

/** Clusters of earlier builds had only this role, a superuser. */
const FORMER_SUPERUSER = 'flotilla';
const SUPERUSER = 'postgres';
const HELPER = 'flotilla_upgrade';
/** SQL states for an unknown role or a wrong password. */
const AUTHENTICATION_FAILED = new Set(['28P01', '28000']);

/**
 * Creates the roles with their databases, and transfers to them what another role owned there. Idempotent; the next
 * call finishes an interrupted one.
 * @param formerPassword - of the superuser that clusters of earlier builds have in place of `postgres`
 * @throws {StackError} when neither superuser can log in
 */
export async function ensureRoles(
  server: RoleServer,
  roles: readonly DatabaseRole[],
  formerPassword: string,
): Promise<void> {
  try {
    const superuser = { ...server, user: SUPERUSER, password: server.superuserPassword };
    if (!(await canLogIn(superuser))) await renameSuperuser(server, formerPassword);
    await withClient({ ...superuser, database: 'postgres' }, async (client) => {
      await client.query(`drop role if exists ${HELPER}`);
      for (const role of roles) await ensureRole(client, role);
    });
    const sql = await readFile(new URL('./take-ownership.sql', import.meta.url), 'utf8');
    for (const { name, databases } of roles) {
      for (const database of databases) {
        await withClient({ ...superuser, database }, async (client) => {
          if (await isOwner(client, name)) return;
          await client.query(`begin; set local flotilla.owner = ${client.escapeLiteral(name)}; ${sql}; commit`);
        });
      }
    }
  } catch (error) {
    const { message } = error as Error;
    throw new StackError(`Cannot log in to the embedded PostgreSQL: ${message}`, { cause: error });
  }
}

async function ensureRole(
  client: pg.Client,
  { name, password, databases, parameters = [] }: DatabaseRole,
): Promise<void> {
  const role = client.escapeIdentifier(name);
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [name]);
  if (rowCount === 0) await client.query(`create role ${role}`);
  await client.query(
    `alter role ${role} login nosuperuser nocreatedb nocreaterole password ${client.escapeLiteral(password)}`,
  );
  for (const parameter of parameters) await client.query(`grant set on parameter ${parameter} to ${role}`);
  for (const database of databases) {
    const found = await client.query('select from pg_database where datname = $1', [database]);
    if (found.rowCount === 0) await client.query(`create database ${client.escapeIdentifier(database)} owner ${role}`);
  }
}

/** Ownership of the database is transferred last, and only the owner can close it to others. */
async function isOwner(client: pg.Client, name: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from pg_database where datname = current_database() and datdba = $1::regrole
       and not has_database_privilege('public', datname, 'connect')`,
    [name],
  );
  return rowCount === 1;
}

/** A role cannot rename itself, and the first of a cluster stays a superuser: a helper renames it to `postgres`. */
async function renameSuperuser(server: RoleServer, formerPassword: string): Promise<void> {
  const former = { ...server, user: FORMER_SUPERUSER, password: formerPassword, database: 'postgres' };
  await withClient(former, async (client) => {
    await client.query(`drop role if exists ${HELPER}`);
    await client.query(`create role ${HELPER} superuser login password ${client.escapeLiteral(formerPassword)}`);
  });
  await withClient({ ...former, user: HELPER }, async (client) => {
    const password = client.escapeLiteral(server.superuserPassword);
    await client.query(
      `begin; alter role ${FORMER_SUPERUSER} rename to ${SUPERUSER}; alter role ${SUPERUSER} password ${password}; commit`,
    );
  });
}

interface LogIn {
  port: number;
  user: string;
  password: string;
  database?: string;
}

async function canLogIn(as: LogIn): Promise<boolean> {
  try {
    await withClient({ ...as, database: 'postgres' }, async () => undefined);
    return true;
  } catch (error) {
    if (AUTHENTICATION_FAILED.has((error as { code?: string }).code ?? '')) return false;
    throw error;
  }
}

async function withClient<T>(
  { port, user, password, database }: LogIn,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const { default: driver } = await import('pg');
  // The server may have been set to read-only, and must start nevertheless.
  const options = '-c default_transaction_read_only=off';
  const client = new driver.Client({ host: '127.0.0.1', port, user, password, database, options });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
