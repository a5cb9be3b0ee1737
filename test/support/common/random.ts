import fc from 'fast-check';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the run, from `vitest.config.ts`. */
    seed: number;
  }
}

const given = process.env['FLOTILLA_TEST_SEED'];

/** Seed of the random tests of this run, which its end prints; `FLOTILLA_TEST_SEED` repeats a run. */
export const SEED = inject('seed');

/** Seed of a test that draws the same in every run unless `FLOTILLA_TEST_SEED` is set. */
export function seedOr(fixed: number): number {
  return given === undefined ? fixed : SEED;
}

fc.configureGlobal({ seed: SEED });

/** fast-check with the seed of the run. */
export default fc;
