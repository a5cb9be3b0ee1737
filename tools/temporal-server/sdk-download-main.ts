import { TestWorkflowEnvironment } from '@temporalio/testing';

/** `node sdk-download-main.ts DIRECTORY`: the SDK downloads its time-skipping server by starting it once. */
const [downloadDir] = process.argv.slice(2);
// The SDK deletes a file older than its ttl before it has a new one.
const executable = { type: 'cached-download', downloadDir, version: 'default', ttl: '365 days' } as const;
try {
  const environment = await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } });
  await environment.teardown();
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
