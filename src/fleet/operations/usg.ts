import { type BObject, BTuple, type BValue } from '../../protocol/bpickle.ts';
import type { Machine } from '../inventory/machine.ts';
import { createRandom } from '../random.ts';
import { failed, type Operation, succeeded, type Workplace } from './operation.ts';

const PROFILES: ReadonlySet<string> = new Set([
  'cis_level1_server',
  'cis_level2_server',
  'cis_level1_workstation',
  'cis_level2_workstation',
  'disa_stig',
]);

/** Rules of the simulated benchmark: id and severity. */
const RULES: readonly (readonly [string, 'low' | 'medium' | 'high'])[] = (
  [
    [
      'low',
      'partition_for_tmp partition_for_home mount_option_tmp_nodev mount_option_tmp_noexec service_cups_disabled',
    ],
    [
      'medium',
      'package_aide_installed package_auditd_installed service_auditd_enabled package_telnet_removed package_rsh_removed',
    ],
    [
      'medium',
      'grub2_password kernel_module_cramfs_disabled kernel_module_usb-storage_disabled sysctl_kernel_randomize_va_space',
    ],
    [
      'medium',
      'sysctl_net_ipv4_ip_forward sysctl_net_ipv4_conf_all_accept_redirects sysctl_net_ipv4_tcp_syncookies ufw_enabled',
    ],
    [
      'medium',
      'accounts_password_pam_minlen accounts_password_pam_retry accounts_maximum_age_login_defs no_empty_passwords',
    ],
    ['high', 'sshd_disable_root_login sshd_disable_empty_passwords sshd_use_strong_ciphers no_rsh_trust_files'],
    ['medium', 'sshd_set_idle_timeout sshd_set_max_auth_tries sshd_enable_warning_banner file_permissions_sshd_config'],
    [
      'medium',
      'file_permissions_etc_passwd file_permissions_etc_shadow file_owner_etc_shadow rsyslog_files_permissions',
    ],
    [
      'medium',
      'audit_rules_login_events audit_rules_privileged_commands audit_rules_time_settimeofday sudo_custom_logfile',
    ],
  ] as const
).flatMap(([severity, names]) => names.split(' ').map((name) => [name, severity] as const));

const PASS_SHARE = { fresh: 0.62, hardened: 0.96 } as const;

/** Audits or hardens a machine. @see agent-protocol 9.6 */
export const usg: Operation = async (message, workplace) => {
  const { machine } = workplace;
  const { catalogue, pro } = machine.blueprint;
  if (!catalogue || catalogue.release === 'questing')
    return { results: [failed(message, 'Error: usg is not installed\n')] };
  const tailoring = message['tailoring-file'];
  const profile = tailoring == null ? String(message['profile'] ?? '') : 'tailored';
  if (tailoring != null && !(await isReadable(tailoring, workplace))) {
    return { results: [failed(message, 'Error: cannot read tailoring file\n')] };
  }
  if (tailoring == null && !PROFILES.has(profile))
    return { results: [failed(message, `Error: unknown profile ${profile}\n`)] };
  if (message['action'] === 'fix') {
    machine.changes.hardened = true;
    machine.needReboot(['usg']);
    return { results: [succeeded(message, `USG fix completed for ${profile}\n`)], facts: ['reboot-required-info'] };
  }
  if (message['action'] !== 'audit') return { results: [failed(message, 'Error: unknown action\n')] };
  const report: BObject = {
    type: 'usg-audit',
    'operation-id': message['operation-id']!,
    'run-id': message['run-id'] ?? '',
    report: Buffer.from(auditReport(machine, profile, pro, workplace.nowSeconds)),
  };
  return { results: [succeeded(message, `USG audit completed for ${profile}\n`)], after: [report] };
};

async function isReadable(tailoring: BValue, { download }: Workplace): Promise<boolean> {
  const pair = tailoring instanceof BTuple ? tailoring.items : tailoring;
  if (!Array.isArray(pair) || pair.length !== 2) return false;
  return typeof pair[1] === 'string' || (await download(Number(pair[1]))) !== null;
}

const ID = 'xccdf_org.ssgproject.content';

/** Writes the result file of an audit; a machine once hardened passes nearly everything. */
function auditReport(machine: Machine, profile: string, pro: boolean, nowSeconds: number): string {
  const { seed, index, hostname, distribution } = machine.blueprint;
  const share = machine.hardened ? PASS_SHARE.hardened : PASS_SHARE.fresh;
  const results = RULES.map(([rule, severity]) => {
    const random = createRandom(seed, 'audit', index, profile, rule);
    const result = rule === 'service_cups_disabled' && !pro ? 'notapplicable' : random.next() < share ? 'pass' : 'fail';
    return { rule, severity, result };
  });
  const rated = results.filter(({ result }) => result !== 'notapplicable');
  const score = (100 * rated.filter(({ result }) => result === 'pass').length) / rated.length;
  const time = new Date(nowSeconds * 1000).toISOString();
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<Benchmark xmlns="http://checklists.nist.gov/xccdf/1.2" id="${ID}_benchmark_UBUNTU_${distribution.release.replace('.', '-')}" resolved="1">`,
    `<TestResult id="xccdf_org.open-scap_testresult_${profile}" start-time="${time}" end-time="${time}" version="1">`,
    `<title>Audit with profile ${profile}</title>`,
    `<profile idref="${ID}_profile_${profile}"/>`,
    `<target>${hostname}</target>`,
    ...results.map(
      ({ rule, severity, result }) =>
        `<rule-result idref="${ID}_rule_${rule}" severity="${severity}" time="${time}" weight="1.000000"><result>${result}</result></rule-result>`,
    ),
    `<score system="urn:xccdf:scoring:default" maximum="100.000000">${score.toFixed(6)}</score>`,
    '</TestResult>',
    '</Benchmark>',
    '',
  ].join('\n');
}
