import type { Catalogue, CataloguePackage } from '../catalogue/packages.ts';
import { type Blueprint, blueprintOf } from './blueprint.ts';
import { factoryInstalled, factoryKernel, factoryRebootPackages, factorySnaps, type InstalledSnap } from './factory.ts';

/** How a computer differs from the day it was made; absent parts are as made. Plain JSON. */
export interface MachineChanges {
  /** Boots since the first. */
  boots?: number;
  bootedAt?: number;
  snaps?: InstalledSnap[];
  installed?: number[];
  held?: number[];
  kernel?: string;
  rebootPackages?: string[];
  gonePids?: number[];
  hardened?: boolean;
  /** Was told to restart or to turn off and has not started since; a new start of the simulator starts it. */
  isGoingDown?: boolean;
}

/** Who a computer is: what its blueprint follows from. */
export interface MachineIdentity {
  seed: number;
  index: number;
  epoch: number;
}

/** The computer an agent lives on: its blueprint, made when asked for, and its changes since. */
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

  get gonePids(): readonly number[] {
    return this.changes.gonePids ?? [];
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

  /** Asks for a reboot on behalf of these packages. */
  needReboot(packages: readonly string[]): void {
    this.changes.rebootPackages = [...new Set([...this.rebootPackages, ...packages])];
  }

  /** Starts the machine again: new processes, the newest kernel, no reboot pending. */
  boot(atSeconds: number): void {
    const kernel = kernelToBoot(this.blueprint.catalogue, this.installed);
    if (kernel) this.changes.kernel = kernel;
    this.changes.boots = this.boots + 1;
    this.changes.bootedAt = atSeconds;
    this.changes.rebootPackages = [];
    delete this.changes.gonePids;
    delete this.changes.isGoingDown;
  }
}

/** The installed version of a package. */
export function installedVersion(
  catalogue: Catalogue,
  installed: readonly number[],
  name: string,
): CataloguePackage | undefined {
  return catalogue.byName.get(name)?.find((entry) => installed.includes(entry.index));
}

/** The kernel that the installed meta package stands for is the one that boots, also after a downgrade. */
function kernelToBoot(catalogue: Catalogue | null, installed: readonly number[]): string | null {
  if (!catalogue?.kernelMeta) return null;
  const meta = installedVersion(catalogue, installed, catalogue.kernelMeta);
  return meta?.requires[0]?.replace('linux-image-', '') ?? null;
}
