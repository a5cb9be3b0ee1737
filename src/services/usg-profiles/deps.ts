import type { ActivitySettings } from '../../config.ts';
import type { Database } from '../../persistence/sql.ts';
import type { Clock, FileStore } from '../ports.ts';

export interface UsgProfilesDeps {
  db: Database;
  clock: Clock;
  files: FileStore;
  settings: ActivitySettings;
}
