import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { EndReporter, LongestFirst } from './test/support/common/run.ts';

/** Of random tests. */
const seed = Number(process.env['FLOTILLA_TEST_SEED'] ?? randomInt(2 ** 31));
const unit = ['test/{architecture,released,unit}/**/*.test.ts'];
/** `npm run test:long`, with `bench`. */
const long = ['test/faults/seeds.test.ts', 'test/e2e/stack/{crash-loop,faults}.test.ts'];
const bench = ['test/bench/**/*.test.ts'];
/** Whole stacks, which two files of these folders do without. */
const system = ['test/e2e/**/!(advisories).test.ts', 'test/faults/!(log-sink).test.ts', 'test/web/**/*.test.ts'];

export default defineConfig({
  test: {
    pool: 'forks',
    // One more than the processors, because tests wait for servers.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new EndReporter(seed)],
    provide: { seed },
    testTimeout: 120_000,
    hookTimeout: 240_000,
    teardownTimeout: 60_000,
    // One second, which it would be, is short where several runs share a machine.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      { extends: true, test: { name: 'unit', include: unit, isolate: false } },
      {
        extends: true,
        test: {
          name: 'integration',
          // What the files import, the whole application, is loaded once per process: it takes seconds.
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...unit, ...system, ...long, ...bench],
          setupFiles: ['test/support/identity/hash-once.ts'],
          globalSetup: ['test/support/stack/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: system,
          exclude: [...configDefaults.exclude, ...long],
          globalSetup: ['test/support/stack/global-setup.ts'],
        },
      },
      { extends: true, test: { name: 'bench', include: bench } },
      { extends: true, test: { name: 'long', include: long, globalSetup: ['test/support/stack/global-setup.ts'] } },
    ],
  },
});
