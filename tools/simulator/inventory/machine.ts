import type { Catalogue, CataloguePackage } from '../catalogue/packages.ts';
import { type Blueprint, blueprintOf } from './blueprint.ts';
import { factoryInstalled, factoryKernel, factoryRebootPackages, factorySnaps, type InstalledSnap } from './factory.ts';

/** Changes since the initial state. Plain JSON. */
export interface MachineChanges {
  boots?: number;
  bootedAt?: number;
  snaps?: InstalledSnap[];
  installed?: number[];
  held?: number[];
  kernel?: string;
  rebootPackages?: string[];
  endedPids?: number[];
  hardened?: boolean;
  /** Restarting or turned off; the next start of the simulator boots it. */
  isGoingDown?: boolean;
}

/** Determines the blueprint of a computer. */
export interface MachineIdentity {
  seed: number;
  index: number;
  epoch: number;
}

/** A computer: its blueprint, derived when needed, and its changes. */
export class Machine {
  readonly #identity: MachineIdentity;
  readonly changes: MachineChanges;

  constructor(identity: MachineIdentity, changes: MachineChanges = {}) {
    this.#identity = identity;
    this.changes = changes;
  }

  get blueprint(): Blueprint {
    return blueprintOf(this.#identity.seed, this.#identity.index, this.#identity.epoch);
  }

  get boots(): number {
    return this.changes.boots ?? 0;
  }

  get bootedAt(): number {
    return this.changes.bootedAt ?? this.blueprint.bootedAt;
  }

  get snaps(): readonly InstalledSnap[] {
    return this.changes.snaps ?? factorySnaps(this.blueprint);
  }

  get endedPids(): readonly number[] {
    return this.changes.endedPids ?? [];
  }

  get hardened(): boolean {
    return this.changes.hardened ?? false;
  }

  get rebootPackages(): readonly string[] {
    return this.changes.rebootPackages ?? factoryRebootPackages(this.blueprint);
  }

  get kernel(): string | null {
    return this.changes.kernel ?? factoryKernel(this.blueprint);
  }

  get installed(): readonly number[] {
    return this.changes.installed ?? factoryInstalled(this.blueprint);
  }

  get held(): readonly number[] {
    return this.changes.held ?? [];
  }

  needReboot(packages: readonly string[]): void {
    this.changes.rebootPackages = [...new Set([...this.rebootPackages, ...packages])];
  }

  boot(atSeconds: number): void {
    const kernel = kernelToBoot(this.blueprint.catalogue, this.installed);
    if (kernel) this.changes.kernel = kernel;
    this.changes.boots = this.boots + 1;
    this.changes.bootedAt = atSeconds;
    this.changes.rebootPackages = [];
    delete this.changes.endedPids;
    delete this.changes.isGoingDown;
  }
}

export function installedVersion(
  catalogue: Catalogue,
  installed: readonly number[],
  name: string,
): CataloguePackage | undefined {
  return catalogue.byName.get(name)?.find((entry) => installed.includes(entry.index));
}

/** The kernel that the installed meta package requires, also after a downgrade. */
function kernelToBoot(catalogue: Catalogue | null, installed: readonly number[]): string | null {
  if (!catalogue?.kernelMeta) return null;
  const meta = installedVersion(catalogue, installed, catalogue.kernelMeta);
  return meta?.requires[0]?.replace('linux-image-', '') ?? null;
}
