import { describe, expect, it } from 'vitest';
import { kernelChoices, smartStatus } from '../../../../src/domain/software/kernel.ts';

/** Installed meta packages as `name version`; others are on offer. */
function chosen(running: string | null, installed: readonly string[], offered: readonly string[] = []) {
  const read = (text: string, isInstalled: boolean) => {
    const [name, version] = text.split(' ') as [string, string];
    return { id: 0, name: `linux-image-${name}`, version, installed: isInstalled, available: !isInstalled };
  };
  const kernels = [...installed.map((text) => read(text, true)), ...offered.map((text) => read(text, false))];
  const choices = kernelChoices(kernels, {
    hotpatchInfo: running && { json: { output: { Status: [{ Kernel: running, Running: true }] } } },
    serviceInfo: null,
    rebootRequiredInfo: null,
    rebootRequired: false,
  });
  return choices.installed && `${choices.installed.name.slice('linux-image-'.length)} ${choices.installed.version}`;
}

describe('kernelChoices', () => {
  const GENERIC = ['generic 5.15.0.122.122', 'generic-hwe-22.04 6.8.0-45.45~22.04.1'];
  const AWS = ['aws 6.11.0.1009.10', 'aws-lts-24.04 6.8.0.1021.23'];

  it.each<[string, string | null, readonly string[], string]>([
    ['GA by its series', '5.15.0-120.130-generic', GENERIC, GENERIC[0]!],
    ['HWE by its series', '6.8.0-40.40~22.04.3-generic', GENERIC, GENERIC[1]!],
    ['HWE by its build', '6.8.0-45.45~22.04.1-generic', GENERIC, GENERIC[1]!],
    ['HWE that has moved to another series', '6.5.0-41.41~22.04.2-generic', GENERIC, GENERIC[1]!],
    ['aws by its series', '6.11.0-1009.10-aws', AWS, AWS[0]!],
    ['aws-lts by its series', '6.8.0-1019.21-aws', AWS, AWS[1]!],
    ['aws-lts without an upload number', '6.8.0-1019-aws', AWS, AWS[1]!],
    [
      'a flavour with a longer name',
      '6.8.0-45.45-generic-64k',
      ['generic 6.8.0-45.45', 'generic-64k 6.8.0-45.45'],
      'generic-64k 6.8.0-45.45',
    ],
    [
      'the flavour itself beside a longer name',
      '6.8.0-45.45-generic',
      ['generic-64k 6.8.0-45.45', 'generic 6.8.0-45.45'],
      'generic 6.8.0-45.45',
    ],
    [
      'virtual, whose kernels are generic',
      '6.8.0-45.45-generic',
      ['aws 6.8.0.50.50', 'virtual 6.8.0-45.45'],
      'virtual 6.8.0-45.45',
    ],
    [
      'oem with a track of its own',
      '6.8.0-1003.3-oem',
      ['generic 6.8.0-45.45', 'oem-24.04a 6.8.0-1003.3'],
      'oem-24.04a 6.8.0-1003.3',
    ],
    ['the newest when the running kernel is not known', null, [...AWS, ...GENERIC], AWS[0]!],
    ['the newest when nothing of the flavour is installed', '6.8.0-1-raspi', GENERIC, GENERIC[1]!],
  ])('takes %s', (_, running, installed, expected) => {
    expect(chosen(running, installed)).toBe(expected);
    expect(chosen(running, installed.toReversed())).toBe(expected);
  });

  it('hides no upgrade when two packages bring the running kernel', () => {
    const both = ['generic 6.8.0-45.45', 'generic-hwe-24.04 6.8.0-45.45'];
    const running = '6.8.0-45.45-generic';
    expect(chosen(running, both)).toBe(both[0]);
    expect(chosen(running, both, ['generic-hwe-24.04 6.11.0-17.17'])).toBe(both[1]);
    expect(chosen(running, both, ['generic 6.8.0-51.52', 'generic-hwe-24.04 6.11.0-17.17'])).toBe(both[0]);
  });

  it('reads the running kernel from the readable report when there is no other', () => {
    const read = (name: string, version: string) => ({ id: 0, name, version, installed: true, available: false });
    const reports = {
      hotpatchInfo: { humane: { output: { kernel: '6.8.0-1019.21-aws' } }, json: { output: '' } },
      serviceInfo: null,
      rebootRequiredInfo: null,
      rebootRequired: false,
    };
    const kernels = [read('linux-image-aws', '6.11.0.1009.10'), read('linux-image-aws-lts-24.04', '6.8.0.1021.23')];
    const choices = kernelChoices(kernels, reports);
    expect(choices.installed?.name).toBe('linux-image-aws-lts-24.04');
    expect(smartStatus(choices, reports)).toBe('Waiting for status');
  });
});
