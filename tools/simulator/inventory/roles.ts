import type { KernelFlavour, ReleaseName } from '../catalogue/releases.ts';

export type Platform = 'metal' | 'kvm' | 'vmware' | 'aws' | 'azure' | 'gcp' | 'lxd' | 'laptop' | 'wsl';
export type Kind = 'server' | 'desktop' | 'windows' | 'wsl';

/** Full-disk encryption: on a TPM, on a TPM that refuses to give new keys, or the agent has no plug-in for it. */
export type Encryption = 'tpm' | 'failing' | 'absent';

/** The fixed part of one computer of the pattern; the seed determines the rest. */
export interface Role {
  prefix: string;
  kind: Kind;
  platform: Platform;
  /** Null on Windows. */
  release: ReleaseName | null;
  tags: readonly string[];
  /** Which of the three available kernels is installed, 0 for the oldest. While a reboot is pending an older one runs. */
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
 *
 * @see docs/architecture.md#the-demo-fleet
 */
export const PATTERN: readonly Role[] = [
  {
    prefix: 'web',
    kind: 'server',
    platform: 'aws',
    release: 'noble',
    tags: ['web', 'production'],
    kernelStep: 1,
    pro: true,
  },
  {
    prefix: 'web',
    kind: 'server',
    platform: 'aws',
    release: 'noble',
    tags: ['web', 'production'],
    kernelStep: 1,
    pro: true,
  },
  { prefix: 'web', kind: 'server', platform: 'aws', release: 'resolute', tags: ['web', 'staging'], kernelStep: 2 },
  {
    prefix: 'db',
    kind: 'server',
    platform: 'metal',
    release: 'jammy',
    tags: ['database', 'production'],
    kernelStep: 1,
    pro: true,
  },
  {
    prefix: 'db',
    kind: 'server',
    platform: 'metal',
    release: 'noble',
    tags: ['database', 'production'],
    kernelStep: 2,
    rebootPending: true,
    pro: true,
  },
  { prefix: 'cache', kind: 'server', platform: 'kvm', release: 'noble', tags: ['cache', 'production'], kernelStep: 1 },
  { prefix: 'build', kind: 'server', platform: 'kvm', release: 'resolute', tags: ['build'], kernelStep: 1 },
  { prefix: 'build', kind: 'server', platform: 'kvm', release: 'jammy', tags: ['build'], kernelStep: 1 },
  {
    prefix: 'mail',
    kind: 'server',
    platform: 'vmware',
    release: 'jammy',
    tags: ['mail', 'production'],
    kernelStep: 2,
    rebootPending: true,
    pro: true,
  },
  { prefix: 'dns', kind: 'server', platform: 'lxd', release: 'noble', tags: ['dns', 'production'], kernelStep: 1 },
  {
    prefix: 'proxy',
    kind: 'server',
    platform: 'gcp',
    release: 'noble',
    tags: ['proxy', 'production'],
    kernelStep: 1,
    pro: true,
  },
  { prefix: 'api', kind: 'server', platform: 'azure', release: 'resolute', tags: ['api', 'staging'], kernelStep: 1 },
  {
    prefix: 'api',
    kind: 'server',
    platform: 'azure',
    release: 'noble',
    tags: ['api', 'production'],
    kernelStep: 1,
    pro: true,
  },
  { prefix: 'monitor', kind: 'server', platform: 'kvm', release: 'noble', tags: ['monitoring'], kernelStep: 2 },
  { prefix: 'backup', kind: 'server', platform: 'metal', release: 'jammy', tags: ['backup'], kernelStep: 0 },
  {
    prefix: 'desk',
    kind: 'desktop',
    platform: 'laptop',
    release: 'noble',
    tags: ['desktop', 'office'],
    kernelStep: 1,
    pro: true,
    encryption: 'tpm',
  },
  {
    prefix: 'desk',
    kind: 'desktop',
    platform: 'laptop',
    release: 'resolute',
    tags: ['desktop', 'office'],
    kernelStep: 1,
    encryption: 'tpm',
  },
  {
    prefix: 'desk',
    kind: 'desktop',
    platform: 'laptop',
    release: 'resolute',
    tags: ['desktop', 'engineering'],
    kernelStep: 1,
    rebootPending: true,
    encryption: 'tpm',
  },
  {
    prefix: 'desk',
    kind: 'desktop',
    platform: 'metal',
    release: 'noble',
    tags: ['desktop', 'engineering'],
    kernelStep: 1,
  },
  { prefix: 'kiosk', kind: 'desktop', platform: 'metal', release: 'questing', tags: ['kiosk'], kernelStep: 1 },
  {
    prefix: 'win-desk',
    kind: 'windows',
    platform: 'laptop',
    release: null,
    tags: ['windows', 'engineering'],
    kernelStep: 0,
  },
  {
    prefix: 'win-desk',
    kind: 'windows',
    platform: 'laptop',
    release: null,
    tags: ['windows', 'office'],
    kernelStep: 0,
  },
  {
    prefix: 'wsl',
    kind: 'wsl',
    platform: 'wsl',
    release: 'noble',
    tags: ['wsl', 'engineering'],
    kernelStep: 0,
    host: 20,
  },
  {
    prefix: 'wsl',
    kind: 'wsl',
    platform: 'wsl',
    release: 'resolute',
    tags: ['wsl', 'engineering'],
    kernelStep: 0,
    host: 20,
  },
  { prefix: 'wsl', kind: 'wsl', platform: 'wsl', release: 'noble', tags: ['wsl', 'office'], kernelStep: 0, host: 21 },
];

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
