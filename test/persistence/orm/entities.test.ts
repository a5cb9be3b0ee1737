import type { EntityClass } from '@mikro-orm/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENTITIES } from '../../../src/persistence/orm/entities.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

/** The statements that would make the schema equal to the entities. */
const difference = () => database.persistence.orm.schema.getUpdateSchemaSQL({ wrap: false });

async function names(text: string): Promise<string[]> {
  const rows = await database.persistence.db.query<{ name: string }>(text);
  return rows.map(({ name }) => name);
}

describe('entities', () => {
  it('are what the migrations make', async () => {
    expect(await difference()).toBe('');
  });

  it('exist for every table except that of the migrations, and are read', async () => {
    const { db, orm } = database.persistence;
    const tables = await names(
      `select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'schema_migration' order by 1`,
    );
    const known = [...orm.getMetadata().getAll().values()].map(({ tableName }) => tableName);
    expect(known.sort()).toEqual(tables);
    expect(ENTITIES).toHaveLength(tables.length);
    for (const entity of ENTITIES) await db.em.find(entity as unknown as EntityClass<object>, {}, { limit: 1 });
  });

  it('have a key that the table lacks in two cases alone', async () => {
    const without = await names(
      `select c.relname as name from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
         and not exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'p') order by 1`,
    );
    expect(without).toEqual(['invitation_mail', 'login_failure']);
  });

  it('have the indexes on expressions that PostgreSQL has, which MikroORM compares by name', async () => {
    const { db, orm } = database.persistence;
    const declared = [...orm.getMetadata().getAll().values()].flatMap(({ indexes }) =>
      indexes.filter(({ expression }) => expression).map(({ name, expression }) => [name!, expression as string]),
    );
    const rows = await db.query<{ name: string; definition: string }>(
      `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
         join pg_class c on c.oid = i.indrelid where c.relnamespace = 'public'::regnamespace and indexprs is not null`,
    );
    expect(declared.sort()).toEqual(rows.map(({ name, definition }) => [name, definition]).sort());
  });

  it.each([
    ['tables', 'create table surplus (id int primary key)', 'drop table surplus'],
    ['columns', 'alter table person add surplus int', 'alter table person drop surplus'],
    ['nullable columns', 'alter table person alter name drop not null', 'alter table person alter name set not null'],
    [
      'defaults',
      `alter table person alter timezone set default 'CET'`,
      `alter table person alter timezone set default 'UTC'`,
    ],
    ['types', 'alter table person alter token_epoch type bigint', 'alter table person alter token_epoch type int'],
    ['indexes', 'create index surplus on person (name)', 'drop index surplus'],
    [
      'conditions of indexes',
      'drop index script_title; create unique index script_title on script (account_id, title)',
      `drop index script_title; create unique index script_title on script (account_id, title) where status = 'active'`,
    ],
    [
      'actions of foreign keys',
      `alter table role drop constraint role_account_id_fkey,
         add constraint role_account_id_fkey foreign key (account_id) references account`,
      `alter table role drop constraint role_account_id_fkey,
         add constraint role_account_id_fkey foreign key (account_id) references account on delete cascade`,
    ],
    [
      'checks',
      'alter table profile drop constraint profile_id_check',
      'alter table profile add constraint profile_id_check check (id > 0)',
    ],
    [
      'values of enums',
      `alter table outbox drop constraint outbox_kind_check,
         add constraint outbox_kind_check check (kind in ('start', 'cancel'))`,
      `alter table outbox drop constraint outbox_kind_check,
         add constraint outbox_kind_check check (kind in ('start', 'cancel', 'schedule_sync'))`,
    ],
  ])('differ from a schema with other %s', async (_, change, revert) => {
    const { db } = database.persistence;
    await db.query(change);
    expect(await difference()).not.toBe('');
    await db.query(revert);
    expect(await difference()).toBe('');
  });
});
