import { createHash } from 'node:crypto';
import type { Database } from '../../persistence/database/sql.ts';
import {
  deleteHashIdDatabase,
  deleteHashIdDatabases,
  findOfferedPackages,
  findOnlyAccount,
  findReleases,
  saveHashIdDatabase,
} from '../../persistence/software/hash-id-databases.sql.ts';
import { writeHashIdFile } from '../../persistence/software/hash-id-file.sql.ts';
import type { Config } from '../../process/config.ts';
import type { Logger } from '../../process/logger.ts';

export interface HashIdDatabases {
  db: Database;
  logger: Logger;
  settings: Config['hashIdDatabases'];
}

/** Fewer could all belong to one owner, whose packages must stay private. */
const MIN_ACCOUNTS = 3;
const MAX_RELEASES = 32;
/** Computers of one release install from much the same archives. */
const COMPUTERS = 100;
/** Of a file, in both of its trees; 62 as measured with 70,000. */
const BYTES_PER_PACKAGE = 72;

/** The releases that get a database. Deletes those of others, and all when they are turned off. */
export async function listReleases({ db, settings }: HashIdDatabases): Promise<string[]> {
  const releases = settings.maxBytes === 0 ? [] : await findReleases(db, MAX_RELEASES);
  await deleteHashIdDatabases(db, { except: releases });
  return releases;
}

/**
 * Builds the database of a release again. Idempotent, also concurrently. Returns the number of packages.
 * @see docs/architecture.md#housekeeping-schedules
 */
export async function buildHashIdDatabase(deps: HashIdDatabases, codeName: string): Promise<number> {
  const { db, logger, settings } = deps;
  const onlyAccount = settings.hasOneAccount ? await findOnlyAccount(db) : null;
  const packages = await findOfferedPackages(db, {
    ...{ codeName, onlyAccount, computers: COMPUTERS },
    accounts: onlyAccount === null ? MIN_ACCOUNTS : 1,
    limit: Math.floor(settings.maxBytes / BYTES_PER_PACKAGE),
  });
  if (packages.length === 0) {
    await deleteHashIdDatabase(db, codeName);
    return 0;
  }
  const content = await writeHashIdFile(packages);
  const etag = createHash('sha256').update(content).digest('hex');
  const ids = packages.map(({ id }) => id);
  await db.transaction((tx) => saveHashIdDatabase(tx, { codeName, onlyAccount, ids, etag, content }));
  logger.debug({ codeName, packages: packages.length, bytes: content.length }, 'built a hash-id database');
  return packages.length;
}
