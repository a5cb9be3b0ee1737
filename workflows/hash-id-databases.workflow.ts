import type { HashIdDatabasesResult } from './contracts/housekeeping.contract.ts';
import { scheduledActivities } from './support/scheduled-activities.ts';

/** One run of its schedule: builds the file of hashes and ids of each release again. */
export async function hashIdDatabases(): Promise<HashIdDatabasesResult> {
  const { codeNames } = await scheduledActivities.listReleases({});
  const result: HashIdDatabasesResult = {};
  for (const codeName of codeNames) {
    const { packages } = await scheduledActivities.buildHashIdDatabase({ codeName });
    result[codeName] = packages;
  }
  return result;
}
