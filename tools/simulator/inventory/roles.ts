import type { KernelFlavour, ReleaseName } from '../catalogue/releases.ts';

export type Platform = 'metal' | 'kvm' | 'vmware' | 'aws' | 'azure' | 'gcp' | 'lxd' | 'laptop' | 'wsl';
export type Kind = 'server' | 'desktop' | 'windows' | 'wsl';

/** Full-disk encryption: on a TPM, on a TPM that fails to create new keys, or without a plug-in of the agent. */
export type Encryption = 'tpm' | 'failing' | 'absent';

/** The fixed part of one computer of the pattern; the seed determines the rest. */
export interface Role {
  prefix: string;
  kind: Kind;
  platform: Platform;
  /** Null on Windows. */
  release: ReleaseName | null;
  tags: readonly string[];
  /** Which of three available kernels is installed, 0 for the oldest; an older one runs while a reboot is pending. */
  kernelStep: 0 | 1 | 2;
  rebootPending?: true;
  pro?: true;
  encryption?: Encryption;
  /** For WSL instances: index of the host in the pattern. */
  host?: number;
}

/**
 * The pattern of 25 computers that every fleet repeats: 20 Ubuntu roots, 2 Windows hosts, 3 WSL children between them.
 * Hosts come before their children, and machines with snaps before those without.
 * @see docs/architecture.md#the-demo-fleet
 */
export const PATTERN: readonly Role[] = [
  role('web', 'server', 'aws', 'noble', 'web production', 1, { pro: true }),
  role('web', 'server', 'aws', 'noble', 'web production', 1, { pro: true }),
  role('web', 'server', 'aws', 'resolute', 'web staging', 2),
  role('db', 'server', 'metal', 'jammy', 'database production', 1, { pro: true }),
  role('db', 'server', 'metal', 'noble', 'database production', 2, { rebootPending: true, pro: true }),
  role('cache', 'server', 'kvm', 'noble', 'cache production', 1),
  role('build', 'server', 'kvm', 'resolute', 'build', 1),
  role('build', 'server', 'kvm', 'jammy', 'build', 1),
  role('mail', 'server', 'vmware', 'jammy', 'mail production', 2, { rebootPending: true, pro: true }),
  role('dns', 'server', 'lxd', 'noble', 'dns production', 1),
  role('proxy', 'server', 'gcp', 'noble', 'proxy production', 1, { pro: true }),
  role('api', 'server', 'azure', 'resolute', 'api staging', 1),
  role('api', 'server', 'azure', 'noble', 'api production', 1, { pro: true }),
  role('monitor', 'server', 'kvm', 'noble', 'monitoring', 2),
  role('backup', 'server', 'metal', 'jammy', 'backup', 0),
  role('desk', 'desktop', 'laptop', 'noble', 'desktop office', 1, { pro: true, encryption: 'tpm' }),
  role('desk', 'desktop', 'laptop', 'resolute', 'desktop office', 1, { encryption: 'tpm' }),
  role('desk', 'desktop', 'laptop', 'resolute', 'desktop engineering', 1, { rebootPending: true, encryption: 'tpm' }),
  role('desk', 'desktop', 'metal', 'noble', 'desktop engineering', 1),
  role('kiosk', 'desktop', 'metal', 'questing', 'kiosk', 1),
  role('win-desk', 'windows', 'laptop', null, 'windows engineering', 0),
  role('win-desk', 'windows', 'laptop', null, 'windows office', 0),
  role('wsl', 'wsl', 'wsl', 'noble', 'wsl engineering', 0, { host: 20 }),
  role('wsl', 'wsl', 'wsl', 'resolute', 'wsl engineering', 0, { host: 20 }),
  role('wsl', 'wsl', 'wsl', 'noble', 'wsl office', 0, { host: 21 }),
];

function role(
  prefix: string,
  kind: Kind,
  platform: Platform,
  release: ReleaseName | null,
  tags: string,
  kernelStep: Role['kernelStep'],
  extras: Pick<Role, 'rebootPending' | 'pro' | 'encryption' | 'host'> = {},
): Role {
  return { prefix, kind, platform, release, tags: tags.split(' '), kernelStep, ...extras };
}

const FLAVOURS: Readonly<Record<Platform, KernelFlavour | null>> = {
  metal: 'generic',
  laptop: 'generic',
  kvm: 'generic',
  vmware: 'generic',
  aws: 'aws',
  azure: 'azure',
  gcp: 'gcp',
  lxd: null,
  wsl: null,
};

/** The kernel flavour of a platform; null where the kernel belongs to the host. */
export function flavourOf(platform: Platform): KernelFlavour | null {
  return FLAVOURS[platform];
}
