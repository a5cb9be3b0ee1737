import { describe, expect, it } from 'vitest';
import { BTuple, encode } from '../../../src/protocol/bpickle.ts';
import { packageHash, RELATION } from '../../../tools/simulator/catalogue/package-hash.ts';
import { catalogueOf } from '../../../tools/simulator/catalogue/packages.ts';
import { type Blueprint, blueprintOf } from '../../../tools/simulator/inventory/blueprint.ts';
import { factOf, factsInScopes } from '../../../tools/simulator/inventory/facts.ts';
import { installedVersion, Machine } from '../../../tools/simulator/inventory/machine.ts';
import { packageDelta, packageSets, toRanges } from '../../../tools/simulator/inventory/package-sets.ts';
import { clientTypes } from '../../../tools/simulator/operations/index.ts';
import { EPOCH, machineAt } from './simulator.ts';

const DEMO = 25;

function computers(count: number, seed = 1): Blueprint[] {
  return Array.from({ length: count }, (_, index) => blueprintOf(seed, index, EPOCH));
}

function inventory(seed: number, index: number): string[] {
  const machine = new Machine({ seed, index, epoch: EPOCH });
  return factsInScopes(null).map((type) => encode(factOf(type, machine)).toString('hex'));
}

function kernelOffer(blueprint: Blueprint) {
  const { catalogue } = blueprint;
  if (!catalogue?.kernelMeta) return null;
  const machine = machineAt(blueprint.index);
  const versions = catalogue.byName.get(catalogue.kernelMeta)!;
  const at = versions.indexOf(installedVersion(catalogue, machine.installed, catalogue.kernelMeta)!);
  return { downgrades: at, upgrades: versions.length - 1 - at };
}

describe('the world of a seed', () => {
  it('is the same each time, to the byte', () => {
    for (const index of [0, 4, 16, 20, 23]) expect(inventory(7, index)).toEqual(inventory(7, index));
  });

  it('differs from seed to seed', () => {
    expect(computers(DEMO, 1)).not.toEqual(computers(DEMO, 2));
    expect(inventory(1, 0)).not.toEqual(inventory(2, 0));
  });

  it('gives every computer a title, address and machine id of its own', () => {
    const all = computers(2000);
    for (const key of [
      (b: Blueprint) => b.title,
      (b: Blueprint) => b.machineId,
      (b: Blueprint) => b.network[0]!.mac,
      (b: Blueprint) => b.network[0]!.address,
    ]) {
      expect(new Set(all.map(key)).size).toBe(all.length);
    }
  });
});

describe('the demo fleet of 25', () => {
  const demo = computers(DEMO);
  const ubuntu = demo.filter(({ kind }) => kind === 'server' || kind === 'desktop');

  it('has at least 15 Ubuntu roots of several releases, servers and desktops', () => {
    expect(ubuntu.length).toBeGreaterThanOrEqual(15);
    const releases = new Set(ubuntu.map(({ distribution }) => distribution.release));
    expect([...releases].sort()).toEqual(['22.04', '24.04', '25.10', '26.04']);
    expect(ubuntu.some(({ kind }) => kind === 'desktop')).toBe(true);
  });

  it('has two Windows hosts with three WSL children between them', () => {
    const hosts = demo.filter(({ distribution }) => distribution.distributor === 'Microsoft');
    const children = demo.filter(({ containerInfo }) => containerInfo === 'wsl');
    expect([hosts.length, children.length]).toEqual([2, 3]);
    const uids = hosts.map(({ hostagentUid }) => hostagentUid);
    expect(new Set(uids).size).toBe(2);
    expect(new Set(children.map(({ hostagentUid }) => hostagentUid))).toEqual(new Set(uids));
  });

  it('has three computers with TPM-backed encryption and at least three without', () => {
    const able = demo.filter((blueprint) => clientTypes(blueprint).includes('fde-recovery-key'));
    expect(able.map(({ encryption }) => encryption)).toEqual(['tpm', 'tpm', 'tpm']);
    expect(demo.filter(({ encryption }) => encryption === 'absent').length).toBeGreaterThanOrEqual(3);
  });

  it('has kernels with an upgrade and, where one was replaced, a downgrade', () => {
    const offers = demo.map(kernelOffer).filter((offer) => offer !== null);
    expect(offers.filter(({ upgrades, downgrades }) => upgrades > 0 && downgrades > 0).length).toBeGreaterThan(5);
    expect(offers.some(({ upgrades }) => upgrades === 0)).toBe(true);
  });

  it('has pending reboots and security upgrades on some', () => {
    const machines = ubuntu.map(({ index }) => machineAt(index));
    const pending = machines.filter(({ rebootPackages }) => rebootPackages.length > 0);
    expect(pending.length).toBeGreaterThan(0);
    expect(pending.length).toBeLessThan(machines.length);
    const security = machines.filter((machine) => {
      const sets = packageSets(machine.blueprint.catalogue!, machine);
      return [...sets['available-upgrades']].some((index) => sets.security.has(index));
    });
    expect(security.length).toBeGreaterThan(3);
  });

  it('has cloud and VM metadata', () => {
    expect(new Set(demo.map(({ vmInfo }) => vmInfo))).toEqual(new Set(['', 'kvm', 'vmware', 'hyperv', 'gce']));
    expect(demo.filter(({ cloud }) => cloud).length).toBeGreaterThan(3);
  });

  it('keeps inventories modest', () => {
    for (const { catalogue } of demo) expect(catalogue?.packages.length ?? 0).toBeLessThanOrEqual(80);
    for (const { index } of demo) {
      const bytes = inventory(1, index).reduce((sum, hex) => sum + hex.length / 2, 0);
      expect(bytes).toBeLessThan(30_000);
    }
  });
});

describe('packageHash', () => {
  it('hashes as the agents do', () => {
    const relations = [
      [RELATION.replacesOlder, 'hello < 2.10-3'],
      [RELATION.equals, 'hello = 2.10-3'],
    ] as const;
    expect(packageHash('hello', '2.10-3', relations).toString('hex')).toBe('88ab80f0e3485e7e0a2c53019ecc3f109cbdb04b');
  });

  it('distinguishes every version of a catalogue', () => {
    const hashes = catalogueOf('noble', 'aws').packages.map(({ hash }) => hash.toString('hex'));
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});

describe('package sets', () => {
  it('writes three or more ids in a row as a range', () => {
    expect(toRanges([9, 1, 2, 3, 5, 6])).toEqual([new BTuple([1, 3]), 5, 6, 9]);
  });

  it('reports what came and what went', () => {
    const catalogue = catalogueOf('noble', 'generic');
    const ids = Int32Array.from(catalogue.packages, (_, index) => 1000 + 2 * index);
    const before = packageSets(catalogue, { installed: [0, 1], held: [], kernel: null });
    const after = packageSets(catalogue, { installed: [1, 2], held: [2], kernel: null });
    expect(packageDelta(before, after, ids)).toMatchObject({
      installed: [1004],
      'not-installed': [1000],
      locked: [1004],
    });
    expect(packageDelta(after, after, ids)).toBeNull();
  });
});
