import { readFile, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { TSMigrationGenerator } from '@mikro-orm/migrations';
import type { MigrationDiff, MikroORM } from '@mikro-orm/postgresql';

const MIGRATIONS_FOLDER = join(import.meta.dirname, 'migrations');

/** Migrations in the form of the others: only upwards, as the previous release runs beside the new schema. */
export class MigrationGenerator extends TSMigrationGenerator {
  override generateMigrationFile(className: string, { up }: MigrationDiff): string {
    const statements = up
      .filter((sql) => sql !== '')
      .map((sql) => `    this.addSql(${literal(sql.replace(/;$/, ''))});\n`);
    return `import { Migration } from '@mikro-orm/migrations';

export class ${className} extends Migration {
  override up(): void {
${statements.join('')}  }
}
`;
  }
}

function literal(sql: string): string {
  return /['\n\\]/.test(sql) ? `\`${sql.replace(/[`$\\]/g, '\\$&')}\`` : `'${sql}'`;
}

/** Writes and lists a migration (`name` with dashes); null when nothing differs. @throws when some have not been run */
export async function createMigration(
  { migrator }: Pick<MikroORM, 'migrator'>,
  name: string,
  folder = MIGRATIONS_FOLDER,
): Promise<string | null> {
  if ((await migrator.getPending()).length > 0) throw new Error('run the pending migrations first: npm run migrate');
  const { fileName, code } = await migrator.create(relative(process.cwd(), folder), false, false, name);
  if (fileName === '') return null;
  await register(join(folder, 'index.ts'), fileName, /class (\w+)/.exec(code)![1]!);
  return join(folder, basename(fileName));
}

async function register(list: string, fileName: string, className: string): Promise<void> {
  const text = await readFile(list, 'utf8');
  const lastImport = text.lastIndexOf('import ');
  const afterImports = text.indexOf('\n', lastImport) + 1;
  const end = text.lastIndexOf('];');
  await writeFile(
    list,
    `${text.slice(0, afterImports)}import { ${className} } from './${fileName}';
${text.slice(afterImports, end)}  { name: '${className}', class: ${className} },
${text.slice(end)}`,
  );
}
