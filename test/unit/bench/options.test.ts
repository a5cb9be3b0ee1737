import { describe, expect, it } from 'vitest';
import { BENCHMARKS, parseOptions } from '../../bench/options.ts';

describe('parseOptions', () => {
  it('runs everything at full size when nothing is said', () => {
    const options = parseOptions([]);
    expect(options.names).toEqual(BENCHMARKS);
    expect(options.computers).toBeUndefined();
    expect(options.rounds).toBe(5);
  });

  it('takes names once each and sizes in ascending order', () => {
    const options = parseOptions(['snaps', 'auth', 'snaps', '--computers', '1000,200', '--rounds', '2']);
    expect(options.names).toEqual(['snaps', 'auth']);
    expect(options.computers).toEqual([200, 1000]);
    expect(parseOptions(['usg', 'report', '--computers', '100000']).computers).toEqual([100_000]);
  });

  it('names what it does not know', () => {
    expect(() => parseOptions(['nope'])).toThrow('no benchmark "nope"');
    expect(() => parseOptions(['--rounds', 'x'])).toThrow('--rounds');
    expect(() => parseOptions(['--computers', '5,0'])).toThrow('--computers');
    expect(() => parseOptions(['--unknown'])).toThrow();
  });
});
