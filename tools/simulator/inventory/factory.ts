import type { CataloguePackage } from '../catalogue/packages.ts';
import { RELEASES } from '../catalogue/releases.ts';
import { findSnap } from '../catalogue/snaps.ts';
import { createRandom } from '../random.ts';
import type { Blueprint } from './blueprint.ts';
import type { Kind } from './roles.ts';

export interface InstalledSnap {
  name: string;
  version: string;
  revision: string;
  channel: string;
  confinement: string;
  /** `forever` or an instant, while updates are held. */
  hold?: string;
}

const SNAPS: Readonly<Record<Kind, readonly string[]>> = {
  server: ['core22', 'lxd', 'snapd'],
  desktop: ['bare', 'core22', 'core24', 'firefox', 'gnome-46-2404', 'gtk-common-themes', 'snap-store', 'snapd'],
  wsl: ['core24', 'snapd'],
  windows: [],
};

/** Shares of machines that lack an ordinary or a security update. */
const OUTDATED_SHARES = { release: 0, updates: 0.35, security: 0.25 } as const;
const OPTIONAL_SHARE = 0.5;
const STALE_SNAP_SHARE = 0.3;

/** Initial snaps; some are a few revisions behind the store. */
export function factorySnaps(blueprint: Blueprint): InstalledSnap[] {
  const random = createRandom(blueprint.seed, 'snaps', blueprint.index);
  const names = [
    ...SNAPS[blueprint.kind],
    ...(blueprint.pro && blueprint.catalogue?.kernelMeta ? ['canonical-livepatch'] : []),
  ];
  return names.sort().map((name) => {
    const { version, revision, confinement } = findSnap(name)!;
    const behind = random.chance(STALE_SNAP_SHARE) ? random.int(1, 3) : 0;
    return { name, version, revision: String(revision - behind), channel: 'latest/stable', confinement };
  });
}

/** Catalogue positions of the initial packages, ascending. */
export function factoryInstalled(blueprint: Blueprint): number[] {
  const { catalogue, kind, seed, index, role } = blueprint;
  if (!catalogue) return [];
  const random = createRandom(seed, 'packages', index);
  const installed: CataloguePackage[] = [];
  for (const [name, versions] of catalogue.byName) {
    const newest = versions.at(-1)!;
    const [wanted, behind] = [random.next(), random.chance(OUTDATED_SHARES[newest.pocket])];
    if (newest.audience === 'kernel') {
      if (name === catalogue.kernelMeta) installed.push(versions[role.kernelStep]!);
    } else if (isWanted(newest, kind, wanted)) installed.push(behind ? versions[0]! : newest);
  }
  for (const image of kernelImages(blueprint)) installed.push(catalogue.byName.get(image)![0]!);
  return installed.map((entry) => entry.index).sort((a, b) => a - b);
}

function isWanted({ audience }: CataloguePackage, kind: Kind, draw: number): boolean {
  if (audience === 'all') return true;
  if (audience === 'optional') return draw < OPTIONAL_SHARE;
  if (kind === 'wsl') return false;
  return audience === kind && (kind === 'desktop' || draw < 0.7);
}

/** Installed images: the running kernel and, while a reboot is pending, the next one. */
function kernelImages(blueprint: Blueprint): string[] {
  if (!blueprint.catalogue?.kernelMeta) return [];
  const running = `linux-image-${factoryKernel(blueprint)}`;
  const next = `linux-image-${kernelAt(blueprint, blueprint.role.kernelStep)}`;
  return running === next ? [running] : [running, next];
}

/** The initial kernel, such as `6.8.0-94-generic`; null where it belongs to the host. */
export function factoryKernel(blueprint: Blueprint): string | null {
  if (!blueprint.catalogue?.kernelMeta) return null;
  const { kernelStep, rebootPending } = blueprint.role;
  return kernelAt(blueprint, rebootPending && kernelStep > 0 ? kernelStep - 1 : kernelStep);
}

function kernelAt({ catalogue }: Blueprint, step: number): string {
  const { base, abis } = RELEASES[catalogue!.release].kernel;
  return `${base}-${abis[step]}-${catalogue!.kernelMeta!.replace('linux-image-', '')}`;
}

/** Packages that wait for a reboot initially. */
export function factoryRebootPackages(blueprint: Blueprint): string[] {
  if (!blueprint.role.rebootPending) return [];
  return [`linux-image-${kernelAt(blueprint, blueprint.role.kernelStep)}`, 'linux-base'];
}
