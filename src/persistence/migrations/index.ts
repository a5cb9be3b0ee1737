import { Migration20261121000000Core } from './migration-20261121000000-core.ts';
import { Migration20261121000100Gateway } from './migration-20261121000100-gateway.ts';
import { Migration20261121001000LoginThrottle } from './migration-20261121001000-login-throttle.ts';
import { Migration20261121001100ComputerRoots } from './migration-20261121001100-computer-roots.ts';
import { Migration20261121002000AccessKeys } from './migration-20261121002000-access-keys.ts';
import { Migration20261121003000Invitations } from './migration-20261121003000-invitations.ts';
import { Migration20261121004000Events } from './migration-20261121004000-events.ts';
import { Migration20261121004100HeldMessages } from './migration-20261121004100-held-messages.ts';
import { Migration20261121050000EventRetention } from './migration-20261121050000-event-retention.ts';
import { Migration20261121050100Addresses } from './migration-20261121050100-addresses.ts';
import { Migration20261121051000QueryTables } from './migration-20261121051000-query-tables.ts';
import { Migration20261121051100QueryIndexes } from './migration-20261121051100-query-indexes.ts';
import { Migration20261121052000ComputerStatus } from './migration-20261121052000-computer-status.ts';
import { Migration20261121052100ComputerBlocks } from './migration-20261121052100-computer-blocks.ts';
import { Migration20261121053000ManagedComputers } from './migration-20261121053000-managed-computers.ts';
import { Migration20261121053100Alerts } from './migration-20261121053100-alerts.ts';
import { Migration20261121054000NarrowComputers } from './migration-20261121054000-narrow-computers.ts';
import { Migration20261121060000KernelPackages } from './migration-20261121060000-kernel-packages.ts';
import { Migration20261121061000RecoveryKeys } from './migration-20261121061000-recovery-keys.ts';
import { Migration20261121061100ActivityLinks } from './migration-20261121061100-activity-links.ts';
import { Migration20261121070000UsgProfiles } from './migration-20261121070000-usg-profiles.ts';
import { Migration20261121071000UsgResults } from './migration-20261121071000-usg-results.ts';

/** Every migration in order; listed by hand so that no file system scan decides what runs. */
export const MIGRATIONS = [
  { name: 'Migration20261121000000Core', class: Migration20261121000000Core },
  { name: 'Migration20261121000100Gateway', class: Migration20261121000100Gateway },
  { name: 'Migration20261121001000LoginThrottle', class: Migration20261121001000LoginThrottle },
  { name: 'Migration20261121001100ComputerRoots', class: Migration20261121001100ComputerRoots },
  { name: 'Migration20261121002000AccessKeys', class: Migration20261121002000AccessKeys },
  { name: 'Migration20261121003000Invitations', class: Migration20261121003000Invitations },
  { name: 'Migration20261121004000Events', class: Migration20261121004000Events },
  { name: 'Migration20261121004100HeldMessages', class: Migration20261121004100HeldMessages },
  { name: 'Migration20261121050000EventRetention', class: Migration20261121050000EventRetention },
  { name: 'Migration20261121050100Addresses', class: Migration20261121050100Addresses },
  { name: 'Migration20261121051000QueryTables', class: Migration20261121051000QueryTables },
  { name: 'Migration20261121051100QueryIndexes', class: Migration20261121051100QueryIndexes },
  { name: 'Migration20261121052000ComputerStatus', class: Migration20261121052000ComputerStatus },
  { name: 'Migration20261121052100ComputerBlocks', class: Migration20261121052100ComputerBlocks },
  { name: 'Migration20261121053000ManagedComputers', class: Migration20261121053000ManagedComputers },
  { name: 'Migration20261121053100Alerts', class: Migration20261121053100Alerts },
  { name: 'Migration20261121054000NarrowComputers', class: Migration20261121054000NarrowComputers },
  { name: 'Migration20261121060000KernelPackages', class: Migration20261121060000KernelPackages },
  { name: 'Migration20261121061000RecoveryKeys', class: Migration20261121061000RecoveryKeys },
  { name: 'Migration20261121061100ActivityLinks', class: Migration20261121061100ActivityLinks },
  { name: 'Migration20261121070000UsgProfiles', class: Migration20261121070000UsgProfiles },
  { name: 'Migration20261121071000UsgResults', class: Migration20261121071000UsgResults },
];
