import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { digestOf } from '../../../src/process/source-digest.ts';
import { BUILD_DIRECTORY } from '../../../src/process/web-page.ts';
import { PROJECT } from '../topology/roles.ts';

/** Modules that processes of a stack are started with. They are compiled, with what they import, into a few files. */
export const ENTRIES: readonly string[] = [
  'src/server/main.ts',
  'workers/main.ts',
  'temporal/bootstrap.ts',
  'tools/stack/database/prepare-database.ts',
  'tools/stack/processes/child-call-main.ts',
];

export const CODE_PREFIX = 'code-';
/** Beside the sources of workers. */
const SOURCES = ['tools/stack', 'tools/temporal-server'];

/** Folder of the compiled code. @param buildId - digest of all code that a worker runs, which includes that of the API */
export function nameCode(buildId: string, directory = BUILD_DIRECTORY): string {
  return join(directory, `${CODE_PREFIX}${digestOf(PROJECT, SOURCES, buildId)}`);
}

/** Arguments of Node with compiled modules in place of their sources, unless another start has removed them. */
export function useCompiled(command: readonly string[], code: string | null): readonly string[] {
  if (code === null || !existsSync(code) || !command.some((argument) => ENTRIES.includes(argument))) return command;
  const folder = relative(PROJECT, code);
  const compiled = command.map((argument) => (ENTRIES.includes(argument) ? join(folder, `${argument}.js`) : argument));
  // Of packages that call `url.parse`: Node shows it where they are not in `node_modules`.
  return ['--disable-warning=DEP0169', ...compiled];
}
