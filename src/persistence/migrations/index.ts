import { Migration20261121000000Core } from './migration-20261121000000-core.ts';

/** Every migration in order; listed by hand so that no file system scan decides what runs. */
export const MIGRATIONS = [{ name: 'Migration20261121000000Core', class: Migration20261121000000Core }];
