import type { components } from '@flotilla/client';

type Schemas = components['schemas'];
/** What the state of a computer follows from. */
export type Described = Pick<Schemas['Computer'], 'archived' | 'alerts' | 'reboot_required_flag'>;

/** Alerts that count, by what a list calls them: the others have a state of their own, or are only about ordinary upgrades. */
const NAMES: Partial<Record<Schemas['ComputerAlert']['type'], string>> = {
  SecurityUpgradesAlert: 'Security upgrades',
  UnapprovedActivitiesAlert: 'Needs approval',
  PackageReporterAlert: 'Package reports',
  PackageProfilesAlert: 'Package profiles',
  ChildInstanceProfilesAlert: 'WSL profiles',
  EsmDisabledAlert: 'ESM disabled',
  ComputerDuplicatesAlert: 'Duplicate',
};

/** The state of a computer that was read with its alerts: the worst that is true of it. */
export function computerState({ archived, alerts = [], reboot_required_flag: needsRestart }: Described): {
  tone: 'good' | 'bad' | 'warn' | 'idle';
  label: string;
} {
  if (archived) return { tone: 'idle', label: 'Archived' };
  if (alerts.some(({ type }) => type === 'ComputerOfflineAlert')) return { tone: 'bad', label: 'Offline' };
  const names = alerts.flatMap(({ type }) => NAMES[type] ?? []);
  if (names.length > 1) return { tone: 'warn', label: `${names.length} alerts` };
  if (names[0] !== undefined) return { tone: 'warn', label: names[0] };
  if (needsRestart) return { tone: 'warn', label: 'Needs restart' };
  return { tone: 'good', label: 'Fine' };
}

/** When a computer was last heard of; null for never. */
export function lastContact({
  last_exchange_time: exchange,
  last_ping_time: ping,
}: Pick<Schemas['Computer'], 'last_exchange_time' | 'last_ping_time'>): string | null {
  if (exchange === null || ping === null) return exchange ?? ping;
  return exchange > ping ? exchange : ping;
}
