import type { DataDirectory } from './data-directory.ts';
import { endLeftover } from './database/postgres.ts';
import { endOrphans } from './processes/running-file.ts';
import { exists, loadSecrets, type StackSecrets } from './secrets.ts';

export interface Preparation {
  /** What a killed one is called, as in "a killed Flotilla". */
  name: string;
  report(message: string): void;
  /** @throws {StackError} when something else is in the way */
  checkPorts(): Promise<void>;
  /** A file beside PostgreSQL's that nobody can read without the secrets. */
  sealedFile?: string;
}

/** Ends what a killed stack left, checks that nothing else is in the way, and reads or makes the secrets. */
export async function prepareDirectory(
  data: DataDirectory,
  { name, report, checkPorts, sealedFile }: Preparation,
): Promise<StackSecrets> {
  const orphans = await endOrphans(data.running);
  if (orphans.length > 0) report(`ended what a killed ${name} left running: ${orphans.join(', ')}`);
  const hasPostgres = await exists(data.postgres);
  if (hasPostgres) await endLeftover(data.postgres);
  await checkPorts();
  const hasData = hasPostgres || (sealedFile !== undefined && (await exists(sealedFile)));
  return loadSecrets(data.secrets, hasData);
}
