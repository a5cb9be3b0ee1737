import { BaseSequencer, type Reporter, type TestModule, type TestSpecification } from 'vitest/node';

/** Files of whole stacks come first: they take longest, and wait so much that other files run meanwhile. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSystem = ({ project }: TestSpecification): number => Number(project.name === 'system');
    return sorted.toSorted((a, b) => isSystem(b) - isSystem(a));
  }
}

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
