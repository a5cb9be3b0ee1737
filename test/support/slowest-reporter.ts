import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 10;

/** Lists the slowest test cases at the end of a run, in seconds. */
export default class SlowestReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const cases = modules
      .flatMap((module) => [...module.children.allTests()])
      .map((test) => ({ test, ms: test.diagnostic()?.duration ?? 0 }))
      .toSorted((a, b) => b.ms - a.ms)
      .slice(0, SHOWN);
    if (cases.length < SHOWN) return;
    const lines = cases.map(
      ({ test, ms }) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${test.module.relativeModuleId} > ${test.fullName}`,
    );
    process.stdout.write(`\n Slowest cases\n${lines.join('\n')}\n`);
  }
}
