import { describe, expect, it } from 'vitest';
import { compareVersions, roundVersion } from '../../../../src/domain/software/debian-version.ts';
import fc from '../../../support/common/random.ts';

describe('compareVersions', () => {
  it.each([
    ['1.0~rc1', '1.0'],
    ['1.0~~', '1.0~'],
    ['1.0', '1.0a'],
    ['1.0a', '1.0+b'],
    ['1.9', '1.10'],
    ['9.9-99', '1:0'],
    ['6.8.0-45.45', '6.8.0-101.101'],
    ['6.8.0.9.9', '6.8.0.45.45'],
    ['1.0-1', '1.0-1ubuntu1'],
    ['1.0', '1.0-1'],
    ['2.7.14build2', '2.7.14build2.3'],
    ['', '0.1'],
    ['1.99999999999999999999998', '1.99999999999999999999999'],
  ])('puts %s before %s', (older, newer) => {
    expect(compareVersions(older, newer)).toBeLessThan(0);
    expect(compareVersions(newer, older)).toBeGreaterThan(0);
  });

  it.each([
    ['1.0', '1.00'],
    ['0:1.0', '1.0'],
    ['1.0-0', '1.0'],
  ])('takes %s and %s for the same', (a, b) => {
    expect(compareVersions(a, b)).toBe(0);
  });

  const version = fc.stringMatching(/^([0-9]{1,2}:)?[0-9a-c.+~]{0,6}(-[0-9a-c~.]{1,4})?$/);
  it('is an order', () => {
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(Math.sign(compareVersions(a, b)) + Math.sign(compareVersions(b, a))).toBe(0);
        const [x, y, z] = [a, b, c].sort(compareVersions) as [string, string, string];
        expect(compareVersions(x, z)).toBeLessThanOrEqual(0);
        expect(compareVersions(x, y)).toBeLessThanOrEqual(0);
      }),
    );
  });
});

describe('roundVersion', () => {
  it.each([
    ['6.8.0.45.45', '6.8.0.45'],
    ['6.8.0-94.94', '6.8.0-94'],
    ['7', '7'],
    ['', ''],
  ])('rounds %s to %s', (version, rounded) => {
    expect(roundVersion(version)).toBe(rounded);
  });
});
