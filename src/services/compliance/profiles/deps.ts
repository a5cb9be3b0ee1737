import type { ActivitySettings } from '../../../process/config.ts';
import type { Database } from '../../../persistence/database/sql.ts';
import type { Clock, FileStore } from '../../common/ports.ts';

export interface UsgProfilesDeps {
  db: Database;
  clock: Clock;
  files: FileStore;
  settings: ActivitySettings;
}
