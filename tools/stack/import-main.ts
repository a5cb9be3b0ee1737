import { readFile } from 'node:fs/promises';
import { importDocument } from '../../src/services/import/import.service.ts';
import { ImportError, readImportDocument } from '../../src/services/import/read-document.ts';
import { withDatabase } from './database/with-database.ts';
import { StackError } from './stack-error.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_SHOWN = 50;

/** `npm run import -- FILE`: imports licences, contracts and the membership of profiles, the whole file or nothing. */
async function main(env: NodeJS.ProcessEnv, [file, ...more]: readonly string[]): Promise<void> {
  if (file === undefined || more.length > 0) throw new StackError('Usage: npm run import -- FILE');
  const document = readImportDocument(await readText(file));
  await withDatabase('flotilla-import', env, async ({ db }) => {
    const { account, licenses, contracts, profiles, computers } = await importDocument(db, document);
    const parts = `${licenses} licences, ${contracts} contracts, ${profiles} profiles, ${computers} computers`;
    process.stdout.write(`Imported into the account ${account}: ${parts}.\n`);
  });
}

async function readText(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new StackError(`${file} cannot be read: ${error.code ?? error.message}`);
  });
  if (bytes.length > MAX_BYTES) throw new StackError(`${file} has more than ${MAX_BYTES} bytes`);
  return bytes.toString('utf8').replace(/^\uFEFF/, '');
}

try {
  await main(process.env, process.argv.slice(2));
} catch (error) {
  process.exitCode = 1;
  if (error instanceof ImportError) {
    const lines = error.message.split('\n');
    const rest = lines.length > MAX_SHOWN ? [`... and ${lines.length - MAX_SHOWN} more`] : [];
    process.stderr.write(
      `Nothing was imported:\n${[...lines.slice(0, MAX_SHOWN), ...rest].map((l) => `  ${l}\n`).join('')}`,
    );
  } else if (error instanceof StackError) process.stderr.write(`${error.message}\n`);
  else process.stderr.write(`The import failed: ${error instanceof Error ? error.message : String(error)}\n`);
}
