import { type BObject, BTuple, type BValue } from '../../../src/protocol/bpickle.ts';
import { createRandom } from '../random.ts';
import { failed, type Operation, type OperationContext, succeeded } from './operation.ts';
import { benchmarkRules, NAMED_RULE_COUNT } from './usg-benchmark.ts';
import { renderAuditReport } from './usg-report.ts';

const PROFILES: ReadonlySet<string> = new Set([
  'cis_level1_server',
  'cis_level2_server',
  'cis_level1_workstation',
  'cis_level2_workstation',
  'disa_stig',
]);

const COMPLIANT_SHARE = 0.4;
/** How often rules pass on the other computers. */
const PASS_SHARES = { named: 0.62, byHand: 0.9, numbered: 0.97 } as const;

/** Audits or hardens a machine. @see docs/agent-protocol.md#compliance-audits */
export const usg: Operation = async (message, context) => {
  const { machine } = context;
  const { catalogue, pro } = machine.blueprint;
  if (!catalogue || catalogue.release === 'questing')
    return { results: [failed(message, 'Error: usg is not installed\n')] };
  const tailoring = message['tailoring-file'];
  const profile = tailoring == null ? String(message['profile'] ?? '') : 'tailored';
  if (tailoring != null && !(await isReadable(tailoring, context))) {
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
    report: Buffer.from(auditReport(context, profile, pro)),
  };
  return { results: [succeeded(message, `USG audit completed for ${profile}\n`)], after: [report] };
};

async function isReadable(tailoring: BValue, { download }: OperationContext): Promise<boolean> {
  const parts = tailoring instanceof BTuple ? tailoring.items : tailoring;
  if (!Array.isArray(parts) || parts.length !== 2) return false;
  return typeof parts[1] === 'string' || (await download(Number(parts[1]))) !== null;
}

function auditReport({ machine, auditRules, nowSeconds }: OperationContext, profile: string, pro: boolean): string {
  const { seed, index, hostname, distribution } = machine.blueprint;
  const isCompliant = createRandom(seed, 'kept', index).chance(COMPLIANT_SHARE);
  const results = benchmarkRules(auditRules).map((rule, place) => {
    if (rule.name === 'service_cups_disabled' && !pro) return { rule, result: 'notapplicable' };
    const share = rule.byHand
      ? PASS_SHARES.byHand
      : place < NAMED_RULE_COUNT
        ? PASS_SHARES.named
        : PASS_SHARES.numbered;
    const isFixed = machine.hardened && !rule.byHand;
    const passes = isCompliant || isFixed || createRandom(seed, 'audit', index, profile, rule.name).chance(share);
    return { rule, result: passes ? 'pass' : 'fail' };
  });
  return renderAuditReport({ release: distribution.release, hostname, profile, nowSeconds, results });
}
