import { describe, expect, it } from 'vitest';
import { FAULTS } from '../../../tools/faults/matrix/faults.ts';
import { parseOptions } from '../../../tools/faults/options.ts';
import { drawPlan, nameOf } from '../../../tools/faults/run/plan.ts';
import { ACTIONS } from '../../../tools/faults/workload/actions.ts';

describe('options of npm run faults', () => {
  it('run so many seeds from the first on', () => {
    expect(parseOptions(['--seeds', '3', '--from', '7']).seeds).toEqual([7, 8, 9]);
  });

  it('repeat one seed', () => {
    expect(parseOptions(['--seed', '42']).seeds).toEqual([42]);
  });

  it.each([
    ['--seeds', '0'],
    ['--seed', 'x'],
    ['--only', '31'],
    ['--what', '1'],
  ])('reject %s %s', (...args) => {
    expect(() => parseOptions(args)).toThrow(TypeError);
  });
});

describe('plans', () => {
  it('are the same for the same seed and others for another', () => {
    expect(drawPlan(5)).toEqual(drawPlan(5));
    expect(drawPlan(5)).not.toEqual(drawPlan(6));
  });

  it('draw every kind of work and of fault within a few hundred seeds, work first', () => {
    const plans = Array.from({ length: 400 }, (_, seed) => drawPlan(seed));
    expect(plans.every(({ steps: [first] }) => first && 'act' in first)).toBe(true);
    const drawn = new Set(plans.flatMap(({ steps }) => steps.map(nameOf)));
    for (const name of Object.keys(ACTIONS)) expect(drawn).toContain(name);
    for (const name of Object.keys(FAULTS)) expect(drawn).toContain(name.toUpperCase());
  });

  it('draw faults of one row alone on request', () => {
    const faults = Array.from({ length: 20 }, (_, seed) => drawPlan(seed, ['killApi'])).flatMap(({ steps }) =>
      steps.flatMap((step) => ('fault' in step ? [step.fault] : [])),
    );
    expect(new Set(faults)).toEqual(new Set(['killApi']));
  });
});
