import { describe, expect, it } from 'vitest';
import { BENCHMARKS, EMBEDDED_ONLY, optionsOf, parseOptions } from '../../tools/bench/options.ts';

describe('parseOptions', () => {
  it('runs everything at sizes for a small machine when nothing or all is given', () => {
    for (const args of [[], ['all']]) {
      const options = parseOptions(args);
      expect(options).toMatchObject({ mode: 'all', names: BENCHMARKS, on: 'embedded', rounds: 3 });
      expect(options.computers).toBeUndefined();
      expect(optionsOf(options, 'snaps').computers).toEqual([1000]);
    }
    expect(optionsOf(parseOptions(['all', '--computers', '50']), 'snaps').computers).toEqual([50]);
  });

  it('runs what is named at full size', () => {
    const options = parseOptions(['snaps']);
    expect(options).toMatchObject({ mode: 'named', names: ['snaps'], rounds: 5, activities: 1_000_000 });
    expect(optionsOf(options, 'snaps').computers).toBeUndefined();
  });

  it('repeats rounds of minutes as often as requested, else once', () => {
    expect(parseOptions(['report'])).toMatchObject({ rounds: 5, longRounds: 2 });
    expect(parseOptions(['report', '--rounds', '5'])).toMatchObject({ rounds: 5, longRounds: 5 });
    expect(parseOptions(['report', '--rounds', '1'])).toMatchObject({ rounds: 1, longRounds: 1 });
  });

  it('takes names once each and sizes in ascending order', () => {
    const options = parseOptions(['snaps', 'auth', 'snaps', '--computers', '1000,200', '--rounds', '2']);
    expect(options.names).toEqual(['snaps', 'auth']);
    expect(options.computers).toEqual([200, 1000]);
    expect(parseOptions(['growth', '--sizes', '1000,100000']).computers).toEqual([1000, 100_000]);
  });

  it('leaves out of the topology what starts the embedded stack itself', () => {
    const { names } = parseOptions(['all', '--on', 'topology']);
    expect(names).toContain('snaps');
    expect(names.filter((name) => EMBEDDED_ONLY.includes(name))).toEqual([]);
    expect(() => parseOptions(['startup', '--on', 'topology'])).toThrow('startup runs on the embedded stack only');
  });

  it('only writes the page on request', () => {
    expect(parseOptions(['page'])).toMatchObject({ mode: 'page', names: [] });
    expect(() => parseOptions(['page', 'snaps'])).toThrow('"page" stands alone');
  });

  it('names what it does not know', () => {
    expect(() => parseOptions(['nope'])).toThrow('no benchmark "nope"');
    expect(() => parseOptions(['--rounds', 'x'])).toThrow('--rounds');
    expect(() => parseOptions(['--computers', '5,0'])).toThrow('--computers');
    expect(() => parseOptions(['--on', 'paper'])).toThrow('--on must be embedded or topology');
    expect(() => parseOptions(['--unknown'])).toThrow();
  });
});
