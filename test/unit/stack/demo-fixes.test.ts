import { describe, expect, it } from 'vitest';
import { catalogueOf } from '../../../tools/simulator/catalogue/packages.ts';
import { demoFixes } from '../../../tools/stack/demo-fixes.ts';

describe('demoFixes', () => {
  it('knows every kernel that simulated computers can upgrade to, each once', () => {
    const known = demoFixes().map(({ package_name, package_version }) => `${package_name} ${package_version}`);
    expect(new Set(known).size).toBe(known.length);
    for (const release of ['jammy', 'noble', 'questing', 'resolute'] as const) {
      for (const flavour of ['generic', 'aws', 'azure', 'gcp'] as const) {
        const { byName, kernelMeta } = catalogueOf(release, flavour);
        const upgrades = byName.get(kernelMeta!)!.slice(1);
        expect(known).toEqual(expect.arrayContaining(upgrades.map(({ name, version }) => `${name} ${version}`)));
      }
    }
  });
});
