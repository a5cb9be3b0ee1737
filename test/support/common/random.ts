import fc from 'fast-check';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the run, from `vitest.config.ts`. */
    seed: number;
  }
}

/** Seed of the random tests of this run, which its end prints; `FLOTILLA_TEST_SEED` repeats a run. */
export const SEED = inject('seed');

fc.configureGlobal({ seed: SEED });

const given = process.env['FLOTILLA_TEST_SEED'];

/** Seed of a model test, which repeats itself unless `FLOTILLA_TEST_SEED` is set: what another seed finds is new work. */
export const seedOr = (fixed: number): number => (given === undefined ? fixed : SEED);

/** fast-check with the seed of the run. */
export default fc;
