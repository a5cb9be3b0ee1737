import type { ActivitySettings } from '../../config.ts';
import type { Database } from '../../persistence/sql.ts';
import type { Clock, FileStore, Recurrences } from '../ports.ts';

export interface UsgProfilesDeps {
  db: Database;
  clock: Clock;
  recurrences: Recurrences;
  files: FileStore;
  settings: ActivitySettings;
}
