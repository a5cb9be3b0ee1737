export type Severity = 'low' | 'medium' | 'high';

export interface BenchmarkRule {
  name: string;
  severity: Severity;
  /** Cannot be fixed automatically: needs new partitions or a password. */
  byHand: boolean;
}

const BY_HAND: ReadonlySet<string> = new Set(['partition_for_tmp', 'partition_for_home', 'grub2_password']);

const NAMED: ReadonlyArray<readonly [Severity, string]> = [
  ['low', 'partition_for_tmp partition_for_home mount_option_tmp_nodev mount_option_tmp_noexec service_cups_disabled'],
  ['medium', 'package_aide_installed package_auditd_installed service_auditd_enabled package_telnet_removed'],
  ['medium', 'package_rsh_removed grub2_password kernel_module_cramfs_disabled kernel_module_usb-storage_disabled'],
  ['medium', 'sysctl_kernel_randomize_va_space sysctl_net_ipv4_ip_forward sysctl_net_ipv4_conf_all_accept_redirects'],
  ['medium', 'sysctl_net_ipv4_tcp_syncookies ufw_enabled accounts_password_pam_minlen accounts_password_pam_retry'],
  ['medium', 'accounts_maximum_age_login_defs no_empty_passwords sshd_set_idle_timeout sshd_set_max_auth_tries'],
  ['high', 'sshd_disable_root_login sshd_disable_empty_passwords sshd_use_strong_ciphers no_rsh_trust_files'],
  ['medium', 'sshd_enable_warning_banner file_permissions_sshd_config file_permissions_etc_passwd'],
  ['medium', 'file_permissions_etc_shadow file_owner_etc_shadow rsyslog_files_permissions audit_rules_login_events'],
  ['medium', 'audit_rules_privileged_commands audit_rules_time_settimeofday sudo_custom_logfile'],
];

const NAMED_RULES: readonly BenchmarkRule[] = NAMED.flatMap(([severity, names]) =>
  names.split(' ').map((name) => ({ name, severity, byHand: BY_HAND.has(name) })),
);

export const NAMED_RULE_COUNT = NAMED_RULES.length;

const FAMILIES = [
  'audit_rules_file_access',
  'file_permissions_var_log',
  'sysctl_net_ipv6_conf',
  'service_unit',
] as const;
const SEVERITIES: readonly Severity[] = ['medium', 'low', 'medium', 'high'];

/** The named rules come first, then numbered ones. */
export function benchmarkRules(count: number): BenchmarkRule[] {
  const numbered = Array.from({ length: Math.max(0, count - NAMED_RULE_COUNT) }, (_, n) => ({
    name: `${FAMILIES[n % FAMILIES.length]}_${1 + Math.floor(n / FAMILIES.length)}`,
    severity: SEVERITIES[n % SEVERITIES.length]!,
    byHand: false,
  }));
  return [...NAMED_RULES, ...numbered].slice(0, count);
}

const TOPICS: ReadonlyArray<readonly [prefix: string, description: string, rationale: string]> = [
  [
    'sshd_',
    'The remote login service must be configured accordingly in',
    'Remote logins are what attackers try first.',
  ],
  [
    'sysctl_',
    'The kernel parameter must be set at run time and at boot in',
    'The default favours convenience over safety.',
  ],
  [
    'audit_rules_',
    'The audit system must record these events by a rule in',
    'Without a record nobody can tell what happened.',
  ],
  [
    'file_',
    'Owner and mode of the file must keep others from changing',
    'Who can change the file controls the computer.',
  ],
  ['package_', 'The package database must show the right state of', 'Software that is not needed is a way in.'],
  ['service_', 'The service manager must show the right state of', 'A service that is not needed is a way in.'],
  ['accounts_', 'The policy for passwords must be set in', 'Short and old passwords are guessed.'],
  ['', 'The computer must be configured accordingly; see', 'A weak setting in one place weakens the whole computer.'],
];

/** Invented texts of a rule. */
export function describeRule({ name }: BenchmarkRule, place: number) {
  const [prefix, description, rationale] = TOPICS.find(([start]) => name.startsWith(start))!;
  const words = name.slice(prefix.length).replaceAll('_', ' ');
  return {
    title: `Ensure ${name.replaceAll('_', ' ')}`,
    description,
    subject: words,
    rationale,
    reference: `${1 + (place % 6)}.${1 + (Math.floor(place / 6) % 20)}.${1 + Math.floor(place / 120)}`,
    ident: `CCE-${80_000 + place}-${place % 10}`,
  };
}
