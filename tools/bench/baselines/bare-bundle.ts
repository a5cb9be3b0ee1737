// Bundles the product's workflows in a fresh process and reports how long that took.
import { bundleWorkflowCode } from '@temporalio/worker';

process.send?.({ ready: true });
process.once('message', ({ workflowsPath }: { workflowsPath: string }) => {
  const logger = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
  const from = performance.now();
  bundleWorkflowCode({ workflowsPath, logger }).then(
    () => process.send?.({ seconds: (performance.now() - from) / 1000 }, () => process.exit(0)),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
