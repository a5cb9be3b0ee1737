import { createRandom } from '../random.ts';
import type { Blueprint } from './blueprint.ts';
import type { Machine } from './machine.ts';

const SERVICES = ['esm-infra', 'esm-apps', 'livepatch', 'usg', 'fips'] as const;
const ENABLED: readonly string[] = ['esm-infra', 'esm-apps', 'livepatch', 'usg'];

/** The status of the Pro subscription, as its tool prints it; an empty object where the tool is absent. */
export function proStatus(blueprint: Blueprint): object {
  if (!blueprint.catalogue) return {};
  const { pro, seed, index, machineId } = blueprint;
  const services = SERVICES.map((name) => ({
    available: 'yes',
    blocked_by: [],
    description: `${name} service`,
    description_override: null,
    entitled: pro ? 'yes' : 'no',
    name,
    status: serviceStatus(blueprint, name),
    status_details: '',
    warning: null,
  }));
  const base = {
    _schema_version: '0.1',
    attached: pro,
    effective: pro ? '2026-01-01T00:00:00+00:00' : null,
    expires: pro ? '2027-12-31T00:00:00+00:00' : null,
    execution_status: 'inactive',
    machine_id: pro ? machineId : null,
    result: 'success',
    services,
    simulated: false,
    version: '37.1',
    warnings: [],
  };
  if (!pro) return base;
  const random = createRandom(seed, 'account', Math.floor(index / 100));
  return {
    ...base,
    account: {
      created_at: '2025-06-01T00:00:00+00:00',
      external_account_ids: [],
      id: `a-${random.hex(8)}`,
      name: 'Example Ltd',
    },
    contract: {
      created_at: '2025-06-01T00:00:00+00:00',
      id: `c-${random.hex(8)}`,
      name: 'Ubuntu Pro',
      products: ['uai-advanced'],
      tech_support_level: 'advanced',
    },
  };
}

function serviceStatus({ pro, catalogue }: Blueprint, name: string): string {
  if (name === 'livepatch' && !catalogue?.kernelMeta) return 'n/a';
  return pro && ENABLED.includes(name) ? 'enabled' : 'disabled';
}

/** Both reports about hot patches, readable and structured; without the tool an error and return code -1. */
export function hotPatchReport(machine: Machine, blueprint: Blueprint): object {
  const kernel = machine.kernel;
  if (!blueprint.pro || !kernel) {
    const absent = { error: '[Errno 2] No such file or directory: canonical-livepatch', output: '', return_code: -1 };
    return { humane: absent, json: absent };
  }
  const running = `${kernel.replace(/-[a-z]+$/, '')}.${kernel.split('-')[1]}-${kernel.split('-').at(-1)}`;
  const machineId = blueprint.machineId.replaceAll('-', '');
  const patch = patchOf(blueprint);
  const humane = {
    kernel: running,
    'machine id': machineId,
    'patch state': patch.applied
      ? 'all applicable livepatch modules inserted'
      : 'no livepatches needed for this kernel yet',
    'patch version': patch.version,
    'server check-in': 'succeeded',
    tier: 'updates',
  };
  const output = {
    Architecture: 'amd64',
    'Boot-Time': new Date(machine.bootedAt * 1000).toISOString(),
    'CPU-Model': blueprint.cpu.model,
    'Client-Version': '10.14.0',
    'Cloud-Enabled': cloudOf(blueprint),
    'Machine-Id': machineId,
    Status: [
      {
        Kernel: running,
        Livepatch: {
          CheckState: 'checked',
          Fixes: patch.applied ? [{ Bug: '', Description: '', Name: patch.fix, Patched: true }] : [],
          State: patch.applied ? 'applied' : 'nothing-to-apply',
          Version: patch.version,
        },
        Running: true,
        Supported: 'supported',
        UpgradeRequiredDate: '2027-06-30',
      },
    ],
    tier: 'updates',
  };
  return { humane: { error: '', output: humane, return_code: 0 }, json: { error: '', output, return_code: 0 } };
}

function patchOf({ seed, index }: Blueprint): { applied: boolean; version: string; fix: string } {
  const random = createRandom(seed, 'hot-patch', index);
  const applied = random.chance(0.7);
  return { applied, version: applied ? `${random.int(100, 120)}.1` : '', fix: `cve-2026-${random.digits(5)}` };
}

function cloudOf({ cloud, platform }: Blueprint): object {
  if (!cloud) return { az: '', cloud: '', 'cloud-enabled': false, region: '' };
  return { az: cloud.zone, cloud: platform, 'cloud-enabled': true, region: cloud.zone.replace(/-?[a-z\d]$/, '') };
}

/** What the Pro tool says about a needed reboot. */
export function proRebootRequired(machine: Machine, blueprint: Blueprint): object {
  const patched = blueprint.pro && machine.kernel !== null;
  const waiting = machine.rebootPackages;
  const kernels = waiting.filter((name) => name.startsWith('linux-'));
  return {
    error: '',
    output: {
      livepatch_enabled: patched,
      livepatch_enabled_and_kernel_patched: patched && patchOf(blueprint).applied,
      livepatch_state: patched ? (patchOf(blueprint).applied ? 'applied' : 'nothing-to-apply') : null,
      livepatch_support: patched ? 'supported' : null,
      reboot_required: waiting.length > 0 ? 'yes' : 'no',
      reboot_required_packages: {
        kernel_packages: kernels.length > 0 ? kernels : null,
        standard_packages: waiting.length > kernels.length ? waiting.filter((name) => !kernels.includes(name)) : null,
      },
    },
  };
}
