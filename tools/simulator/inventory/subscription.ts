import { createRandom } from '../random.ts';
import type { Blueprint } from './blueprint.ts';
import type { Machine } from './machine.ts';

const SERVICES = ['esm-infra', 'esm-apps', 'hotpatch', 'usg', 'fips'] as const;
const COMPUTERS_PER_CONTRACT = 100;
const ENABLED: readonly string[] = ['esm-infra', 'esm-apps', 'hotpatch', 'usg'];

/** The output of the Pro tool; an empty object without it. */
export function proStatus(blueprint: Blueprint): object {
  if (!blueprint.catalogue) return {};
  const { pro, machineId } = blueprint;
  const status = {
    _schema_version: '0.1',
    attached: pro,
    effective: pro ? '2026-01-01T00:00:00+00:00' : null,
    expires: pro ? '2027-12-31T00:00:00+00:00' : null,
    execution_status: 'inactive',
    machine_id: pro ? machineId : null,
    result: 'success',
    services: SERVICES.map((name) => serviceOf(blueprint, name)),
    simulated: false,
    version: '37.1',
    warnings: [],
  };
  return pro ? { ...status, ...contractOf(blueprint) } : status;
}

function serviceOf(blueprint: Blueprint, name: string): object {
  return {
    available: 'yes',
    blocked_by: [],
    description: name === 'hotpatch' ? 'Kernel hot patching' : `${name} service`,
    description_override: null,
    entitled: blueprint.pro ? 'yes' : 'no',
    name,
    status: serviceStatus(blueprint, name),
    status_details: '',
    warning: null,
  };
}

function contractOf({ seed, index }: Blueprint): object {
  const random = createRandom(seed, 'account', Math.floor(index / COMPUTERS_PER_CONTRACT));
  const created_at = '2025-06-01T00:00:00+00:00';
  return {
    account: { created_at, external_account_ids: [], id: `a-${random.hex(8)}`, name: 'Example Ltd' },
    contract: {
      created_at,
      id: `c-${random.hex(8)}`,
      name: 'Ubuntu Pro',
      products: ['uai-advanced'],
      tech_support_level: 'advanced',
    },
  };
}

function serviceStatus({ pro, catalogue }: Blueprint, name: string): string {
  if (name === 'hotpatch' && !catalogue?.kernelMeta) return 'n/a';
  return pro && ENABLED.includes(name) ? 'enabled' : 'disabled';
}

/** The readable and the structured report of the patch tool; without it an error and return code -1. */
export function hotPatchReport(machine: Machine, blueprint: Blueprint): object {
  const kernel = machine.kernel;
  if (!blueprint.pro || !kernel) {
    const absent = { error: '[Errno 2] No such file or directory: canonical-livepatch', output: '', return_code: -1 };
    return { humane: absent, json: absent };
  }
  const humane = { error: '', output: readablePatchStatus(kernel, blueprint), return_code: 0 };
  return { humane, json: { error: '', output: patchStatus(machine, kernel, blueprint), return_code: 0 } };
}

/** `6.8.0-94-generic` is `6.8.0-94.94-generic` to the patch tool. */
function patchedKernel(kernel: string): string {
  const [base, abi, flavour] = kernel.split('-');
  return `${base}-${abi}.${abi}-${flavour}`;
}

function readablePatchStatus(kernel: string, blueprint: Blueprint): object {
  const { applied, version } = patchOf(blueprint);
  return {
    kernel: patchedKernel(kernel),
    'machine id': blueprint.machineId.replaceAll('-', ''),
    'patch state': applied ? 'all applied' : 'nothing to apply',
    'patch version': version,
    'server check-in': 'succeeded',
    tier: 'updates',
  };
}

function patchStatus(machine: Machine, kernel: string, blueprint: Blueprint): object {
  const { applied, version, fix } = patchOf(blueprint);
  return {
    Architecture: 'amd64',
    'Boot-Time': new Date(machine.bootedAt * 1000).toISOString(),
    'CPU-Model': blueprint.cpu.model,
    'Client-Version': '10.14.0',
    'Cloud-Enabled': cloudOf(blueprint),
    'Machine-Id': blueprint.machineId.replaceAll('-', ''),
    Status: [
      {
        Kernel: patchedKernel(kernel),
        Hotpatch: {
          CheckState: 'checked',
          Fixes: applied ? [{ Bug: '', Description: '', Name: fix, Patched: true }] : [],
          State: applied ? 'applied' : 'nothing-to-apply',
          Version: version,
        },
        Running: true,
        Supported: 'supported',
        UpgradeRequiredDate: '2027-06-30',
      },
    ],
    tier: 'updates',
  };
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

export function proRebootRequired(machine: Machine, blueprint: Blueprint): object {
  const patched = blueprint.pro && machine.kernel !== null;
  const waiting = machine.rebootPackages;
  const kernels = waiting.filter((name) => name.startsWith('linux-'));
  return {
    error: '',
    output: {
      hotpatch_enabled: patched,
      hotpatch_enabled_and_kernel_patched: patched && patchOf(blueprint).applied,
      hotpatch_state: patched ? (patchOf(blueprint).applied ? 'applied' : 'nothing-to-apply') : null,
      hotpatch_support: patched ? 'supported' : null,
      reboot_required: waiting.length > 0 ? 'yes' : 'no',
      reboot_required_packages: {
        kernel_packages: kernels.length > 0 ? kernels : null,
        standard_packages: waiting.length > kernels.length ? waiting.filter((name) => !kernels.includes(name)) : null,
      },
    },
  };
}
