export type ReleaseName = 'jammy' | 'noble' | 'questing' | 'resolute';

/** Kernel flavours: the meta package is `linux-image-<flavour>`. */
export type KernelFlavour = 'generic' | 'aws' | 'azure' | 'gcp';

export interface Release {
  name: ReleaseName;
  version: string;
  description: string;
  /** Which release the update manager offers. */
  prompt: 'lts' | 'normal';
  kernel: {
    /** Upstream version, the first part of every kernel package's version. */
    base: string;
    /** ABI numbers of the kernels on offer, oldest first. */
    abis: readonly [number, number, number];
    /** Older releases use only dots in versions of the meta package. */
    dottedMeta: boolean;
  };
}

export const RELEASES: Readonly<Record<ReleaseName, Release>> = {
  jammy: {
    name: 'jammy',
    version: '22.04',
    description: 'Ubuntu 22.04.5 LTS',
    prompt: 'lts',
    kernel: { base: '5.15.0', abis: [25, 161, 168], dottedMeta: true },
  },
  noble: {
    name: 'noble',
    version: '24.04',
    description: 'Ubuntu 24.04.4 LTS',
    prompt: 'lts',
    kernel: { base: '6.8.0', abis: [31, 94, 101], dottedMeta: false },
  },
  questing: {
    name: 'questing',
    version: '25.10',
    description: 'Ubuntu 25.10',
    prompt: 'normal',
    kernel: { base: '6.17.0', abis: [5, 12, 19], dottedMeta: false },
  },
  resolute: {
    name: 'resolute',
    version: '26.04',
    description: 'Ubuntu 26.04.1 LTS',
    prompt: 'lts',
    kernel: { base: '7.0.0', abis: [11, 17, 22], dottedMeta: false },
  },
};
