import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 10;

/** Ends a run with its slowest test cases and the seed of its random tests. */
export class EndReporter implements Reporter {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const cases = modules
      .flatMap((module) => [...module.children.allTests()])
      .map((test) => ({ test, ms: test.diagnostic()?.duration ?? 0 }))
      .toSorted((a, b) => b.ms - a.ms)
      .slice(0, SHOWN);
    const lines = cases.map(
      ({ test, ms }) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${test.module.relativeModuleId} > ${test.fullName}`,
    );
    process.stdout.write(
      `\n Slowest cases\n${lines.join('\n')}\n\n Random tests: FLOTILLA_TEST_SEED=${this.#seed}\n\n`,
    );
  }
}
