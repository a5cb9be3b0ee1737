import {
  buildHashIdDatabase,
  type HashIdDatabases,
  listReleases,
} from '../../src/services/software/hash-id-databases.ts';
import type { HashIdDatabaseActivities } from '../../workflows/contracts/activities.ts';

/** The Temporal activities of `hashIdDatabases`. */
export function createHashIdDatabaseActivities(deps: HashIdDatabases): HashIdDatabaseActivities {
  return {
    listReleases: async () => ({ codeNames: await listReleases(deps) }),
    buildHashIdDatabase: async ({ codeName }) => ({ packages: await buildHashIdDatabase(deps, codeName) }),
  };
}
