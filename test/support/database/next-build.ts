import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const PROJECT = resolve(import.meta.dirname, '../../..');
const COPIED = ['src', 'temporal', 'workers', 'workflows', 'package.json', 'tsconfig.json'];
const DEPENDENCIES = 'node_modules';

/** The migration that only the next build has. */
export const NEXT_MIGRATION = 'Migration20991231000000NextBuild';

interface Edit {
  file: string;
  find: string;
  replace: string;
}

/** A changed order of commands in waiting workflows, guarded as a real change would be. */
const BATCH_EDITS: readonly Edit[] = [
  {
    file: 'workflows/batch.workflow.ts',
    find: '  defineSignal,\n',
    replace: '  defineSignal,\n  sleep,\n',
  },
  {
    file: 'workflows/batch.workflow.ts',
    find: '    const progress = await activities.processPendingEvents({ batch, cancelAll });\n',
    replace:
      "    if (patched('next-build')) await sleep(1);\n    const progress = await activities.processPendingEvents({ batch, cancelAll });\n",
  },
];

const MIGRATION_EDITS: readonly Edit[] = [
  {
    file: 'src/persistence/orm/migrations/index.ts',
    find: '\n];',
    replace: `\n  { name: '${NEXT_MIGRATION}', class: ${NEXT_MIGRATION} },\n];`,
  },
  {
    file: 'src/persistence/orm/migrations/index.ts',
    find: 'import ',
    replace: `import { ${NEXT_MIGRATION} } from './migration-20991231000000-next-build.ts';\nimport `,
  },
];

const MIGRATION = `import { Migration } from '@mikro-orm/migrations';

export class ${NEXT_MIGRATION} extends Migration {
  override up(): void {
    this.addSql('create table next_build (id int primary key)');
    this.addSql("alter table activity add column next_build text not null default ''");
    this.addSql('alter table computer add column next_build text');
  }
}
`;

/**
 * Makes a tree of the version to come: this one with a patched batch workflow, hence another build id, and one migration
 * more. Its programs run like this tree's.
 *
 * @param directory - is made; dependencies are linked, not copied
 * @throws when the code no longer has the places that are changed
 */
export async function makeNextBuild(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const name of COPIED) await cp(join(PROJECT, name), join(directory, name), { recursive: true });
  await symlink(join(PROJECT, DEPENDENCIES), join(directory, DEPENDENCIES));
  for (const edit of [...BATCH_EDITS, ...MIGRATION_EDITS]) await apply(directory, edit);
  await writeFile(join(directory, 'src/persistence/orm/migrations/migration-20991231000000-next-build.ts'), MIGRATION);
}

async function apply(directory: string, { file, find, replace }: Edit): Promise<void> {
  const path = join(directory, file);
  const text = await readFile(path, 'utf8');
  if (!text.includes(find)) throw new Error(`${file} no longer has ${JSON.stringify(find)}`);
  await writeFile(
    path,
    text.replace(find, () => replace),
  );
}
