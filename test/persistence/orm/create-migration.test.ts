import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createMigration } from '../../../src/persistence/orm/create-migration.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  await copyFile('src/persistence/orm/migrations/index.ts', join(folder, 'index.ts'));
});
afterAll(async () => {
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

it('writes nothing when entities and database agree', async () => {
  expect(await createMigration(database.persistence.orm, 'nothing', folder)).toBeNull();
  expect(await readdir(folder)).toEqual(['index.ts']);
});

it('writes and registers what the database lacks of an entity', async () => {
  const { db, orm } = database.persistence;
  await db.query('alter table saved_search drop column creator_id');
  await db.query(`alter table script alter status drop default`);
  const file = await createMigration(database.persistence.orm, 'search-owners', folder);
  const [, timestamp] = /\/migration-(\d{14})-search-owners\.ts$/.exec(file!)!;
  const className = `Migration${timestamp}SearchOwners`;
  const code = await readFile(file!, 'utf8');
  expect(code).toBe(`import { Migration } from '@mikro-orm/migrations';

export class ${className} extends Migration {
  override up(): void {
    this.addSql('alter table "saved_search" add "creator_id" int null');
    this.addSql(\`alter table "script" alter column "status" set default 'active'\`);
  }
}
`);
  const list = await readFile(join(folder, 'index.ts'), 'utf8');
  expect(list).toContain(`\nimport { ${className} } from './migration-${timestamp}-search-owners.ts';\n\n/**`);
  expect(list).toMatch(new RegExp(`  \\{ name: '${className}', class: ${className} \\},\n\\];\n$`));
  for (const [, sql] of code.matchAll(/addSql\(['`](.*)['`]\)/g)) await db.query(sql!);
  expect(await orm.schema.getUpdateSchemaSQL()).toBe('');
});

it('needs a database that has run every migration', async () => {
  await database.persistence.db.query('delete from schema_migration where id = (select max(id) from schema_migration)');
  await expect(createMigration(database.persistence.orm, 'late', folder)).rejects.toThrow('pending migrations');
});
