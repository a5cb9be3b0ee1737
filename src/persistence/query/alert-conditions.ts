import { ALERT_NAMES, type AlertName } from '../../domain/events/alerts.ts';

export interface AlertRule {
  name: AlertName;
  type: string;
  severity: 'info' | 'warning' | 'danger';
  summary: string;
  description: string;
  /** SQL: a table expression with an alias, which contains the state. */
  from: 'computer_status s' | 'computer_contact contact' | 'activity a' | 'computer_profile m';
  /** SQL over `from`: the id of the computer, whether the alert is active, and since when. */
  computer: string;
  active: string;
  since: string;
}

/** Time without contact after which a computer counts as offline, as an SQL interval. */
const SILENCE = `interval '5 minutes'`;

/** How long an identity stays in doubt after an exchange that two machines may have made, as an SQL interval. */
const DOUBT = `interval '1 day'`;

/** Over `contact`: when the computer last contacted the server. */
export const LAST_HEARD = 'greatest(contact.known_since, contact.last_ping_time, contact.last_exchange_time)';

type State = Pick<AlertRule, 'from' | 'computer' | 'active' | 'since'>;

const standing = (column: string): State => ({
  from: 'computer_status s',
  computer: 's.computer_id',
  active: `s.${column} is not null`,
  since: `s.${column}`,
});

const noncompliant = (type: 'package' | 'wsl'): State => ({
  from: 'computer_profile m',
  computer: 'm.computer_id',
  active: `m.type = '${type}' and m.status = 'noncompliant'`,
  since: 'm.status_since',
});

const RULES: Readonly<Record<AlertName, Omit<AlertRule, 'name' | 'type'>>> = {
  'package-upgrades': {
    severity: 'info',
    summary: 'Package upgrades are available',
    description: 'Computers with package upgrades that are not security updates',
    ...standing('regular_upgrades_since'),
  },
  'security-upgrades': {
    severity: 'info',
    summary: 'Security upgrades are available',
    description: 'Computers with security upgrades',
    ...standing('security_upgrades_since'),
  },
  'package-profiles': {
    severity: 'warning',
    summary: 'A package profile is not applied',
    description: 'Computers that a package profile could not be applied to',
    ...noncompliant('package'),
  },
  'package-reporter': {
    severity: 'danger',
    summary: 'Package reporting failed',
    description: 'Computers that could not find out about their packages',
    ...standing('package_reporter_since'),
  },
  'computer-offline': {
    severity: 'danger',
    summary: 'The computer is offline',
    description: 'Computers that have been silent for five minutes',
    from: 'computer_contact contact',
    computer: 'contact.computer_id',
    active: `${LAST_HEARD} <= now() - ${SILENCE}`,
    since: `${LAST_HEARD} + ${SILENCE}`,
  },
  'computer-reboot': {
    severity: 'warning',
    summary: 'The computer needs to be restarted',
    description: 'Computers that wait for a restart',
    ...standing('reboot_since'),
  },
  'esm-disabled': {
    severity: 'warning',
    summary: 'Expanded security maintenance is disabled',
    description: 'Computers entitled to expanded security maintenance that have it switched off',
    ...standing('esm_disabled_since'),
  },
  'computer-duplicates': {
    severity: 'warning',
    summary: 'The computer is a duplicate of another',
    description:
      'Computers that were cloned from another one which is still there, or whose identity two machines may be using',
    ...standing('duplicate_since'),
    active: `(s.doubted_at > now() - ${DOUBT} or s.duplicate_since is not null and exists (
      select from computer d join computer o on o.id = d.clone_id
      where d.id = s.computer_id and o.state = 'approved' and not o.archived))`,
    since: 'greatest(s.duplicate_since, s.doubted_at)',
  },
  'unapproved-activities': {
    severity: 'warning',
    summary: 'Activities wait for approval',
    description: 'Computers with activities that nobody has approved yet',
    from: 'activity a',
    computer: 'a.computer_id',
    active: `a.needed_approval and a.status = 'unapproved' and a.computer_id is not null`,
    since: 'a.creation_time',
  },
  'child-instance-profiles': {
    severity: 'warning',
    summary: 'A child instance does not comply with its profile',
    description: 'Windows computers whose instances differ from what a WSL profile requires',
    ...noncompliant('wsl'),
  },
};

/** All alerts, in the order of {@link ALERT_NAMES}, from rows and time alone. @see docs/api-conventions.md#alerts */
export const ALERT_RULES: readonly AlertRule[] = ALERT_NAMES.map((name) => {
  const type = name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return { name, type: `${type}Alert`, ...RULES[name] };
});

export function alertRule(name: AlertName): AlertRule {
  return ALERT_RULES[ALERT_NAMES.indexOf(name)]!;
}

/** True for unarchived computers `c` with the alert, never null. Independent of `c`: cheap below OR and NOT too. */
export function alertCondition(name: AlertName): string {
  const { from, computer, active } = alertRule(name);
  return `(not c.archived and c.id in (select ${computer} from ${from} where ${active}))`;
}
