import { describe, expect, it } from 'vitest';
import { installedVersion, type Machine } from '../../../tools/simulator/inventory/machine.ts';
import { packageSets } from '../../../tools/simulator/inventory/package-sets.ts';
import { EPOCH, ID_BASE, machineAt, OPERATION, run, SERVER } from './simulator.ts';

describe('change-packages', () => {
  function kernels(machine: Machine) {
    const catalogue = machine.blueprint.catalogue!;
    const versions = catalogue.byName.get(catalogue.kernelMeta!)!;
    const installed = installedVersion(catalogue, machine.installed, catalogue.kernelMeta!)!;
    const at = versions.indexOf(installed);
    const id = (entry: { index: number } | undefined) => entry!.index + ID_BASE;
    const image = (entry: { requires: readonly string[] } | undefined) => catalogue.byName.get(entry!.requires[0]!)![0];
    return { catalogue, installed, newer: versions[at + 1], older: versions[at - 1], id, image };
  }

  it('returns 101 with the companions a strict policy leaves out, and changes nothing', async () => {
    const machine = machineAt(SERVER);
    const { installed, newer, id, image } = kernels(machine);
    const before = [...machine.installed];
    const { results } = await run(machine, { type: 'change-packages', install: [id(newer)], policy: 0 });
    expect(results).toEqual([
      {
        type: 'change-packages-result',
        'operation-id': OPERATION,
        'result-code': 101,
        'must-install': [id(image(newer))],
        'must-remove': [id(installed)],
      },
    ]);
    expect(machine.installed).toEqual(before);
  });

  it('allows installs but no replacement with policy 1', async () => {
    const machine = machineAt(SERVER);
    const { newer, id } = kernels(machine);
    const { results } = await run(machine, { type: 'change-packages', install: [id(newer)], policy: 1 });
    expect(results[0]!['result-code']).toBe(101);
  });

  it('upgrades a kernel with its companions listed, and wants a reboot', async () => {
    const machine = machineAt(SERVER);
    const { catalogue, installed, newer, id, image } = kernels(machine);
    const install = [id(newer), id(image(newer))];
    const outcome = await run(machine, { type: 'change-packages', install, remove: [id(installed)], policy: 0 });
    expect(outcome.results[0]).toMatchObject({ 'result-code': 1 });
    expect(outcome.packages).toBe(true);
    expect(installedVersion(catalogue, machine.installed, catalogue.kernelMeta!)).toBe(newer);
    expect(machine.rebootPackages).toContain(catalogue.kernelMeta);
    machine.boot(EPOCH + 60);
    expect(machine.rebootPackages).toEqual([]);
    expect(`linux-image-${machine.kernel}`).toBe(newer!.requires[0]);
    expect(packageNames(machine, 'available')).toContain(`${installed.name} ${installed.version}`);
  });

  it('downgrades with policy 2 and reports what it added', async () => {
    const machine = machineAt(SERVER);
    const { catalogue, installed, older, id, image } = kernels(machine);
    const { results } = await run(machine, { type: 'change-packages', install: [id(older)], policy: 2 });
    expect(results[0]).toMatchObject({
      'result-code': 1,
      'must-install': [id(image(older))],
      'must-remove': [id(installed)],
    });
    expect(installedVersion(catalogue, machine.installed, catalogue.kernelMeta!)).toBe(older);
  });

  it('is content with what is already there', async () => {
    const machine = machineAt(SERVER);
    const install = [machine.installed[0]! + ID_BASE];
    const { results } = await run(machine, { type: 'change-packages', install, policy: 0 });
    expect(results[0]).toMatchObject({ 'result-code': 1, 'result-text': expect.stringContaining('already') });
  });

  it('upgrades all but held packages', async () => {
    const machine = machineAt(SERVER);
    const [held] = machine.installed;
    await run(machine, { type: 'change-packages', hold: [held! + ID_BASE], policy: 0 });
    await run(machine, { type: 'change-packages', 'upgrade-all': true, policy: 2 });
    expect(packageNames(machine, 'available-upgrades').every((name) => name.startsWith('libc6 '))).toBe(true);
    expect(machine.held).toEqual([held]);
  });

  it('removes no essential package and gives up on unknown ids after 70 minutes', async () => {
    const machine = machineAt(SERVER);
    const essential = machine.installed[0]! + ID_BASE;
    const { results } = await run(machine, { type: 'change-packages', remove: [essential], policy: 2 });
    expect(results[0]).toMatchObject({ 'result-code': 100 });
    const late = await run(machine, { type: 'change-packages', install: [999_999], policy: 2 });
    expect(late).toMatchObject({ extraMs: 70 * 60_000, results: [{ 'result-code': 100 }] });
  });

  function packageNames(machine: Machine, set: 'available' | 'available-upgrades'): string[] {
    const { catalogue } = machine.blueprint;
    return [...packageSets(catalogue!, machine)[set]].map((index) => {
      const { name, version } = catalogue!.packages[index]!;
      return `${name} ${version}`;
    });
  }
});
