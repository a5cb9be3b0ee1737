import type { Config } from '../src/config.ts';
import type { Logger } from '../src/logger.ts';
import type { Database } from '../src/persistence/sql.ts';
import { createDatabaseFileStore } from '../src/services/files.ts';
import type { ProfileKind, ProfileKinds } from '../src/services/schedule/profile-kind.ts';
import { createScriptKind } from '../src/services/schedule/script-kind.ts';
import { createUsgKind } from '../src/services/schedule/usg-kind.ts';

/** The kinds of profiles that schedules start. @see ProfileKind for what a new one needs */
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
