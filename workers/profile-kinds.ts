import type { Config } from '../src/process/config.ts';
import type { Logger } from '../src/process/logger.ts';
import type { Database } from '../src/persistence/database/sql.ts';
import { createDatabaseFileStore } from '../src/services/common/files.ts';
import type { ProfileKind, ProfileKinds } from '../src/services/schedules/profile-kind.ts';
import { createScriptKind } from '../src/services/scripts/profiles/script-kind.ts';
import { createUsgKind } from '../src/services/compliance/profiles/usg-runs.ts';

/** The kinds of profiles that schedules start. {@link ProfileKind} lists what a new one needs. */
export function createProfileKinds(deps: {
  db: Database;
  settings: Config['activities'];
  limits: Config['scriptProfiles'];
  publicUrl: string;
  logger: Logger;
}): ProfileKinds {
  const { db, settings, limits, publicUrl, logger } = deps;
  const files = createDatabaseFileStore(db);
  const kinds: ProfileKind[] = [
    createUsgKind({ db, files, settings, publicUrl, logger }),
    createScriptKind({ db, settings, limits, publicUrl, logger }),
  ];
  return new Map(kinds.map((kind) => [kind.name, kind]));
}
