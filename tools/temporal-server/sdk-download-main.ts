import { TestWorkflowEnvironment } from '@temporalio/testing';

/** `node sdk-download-main.ts dev-server|time-skipping VERSION DIRECTORY`: the SDK downloads a server by starting it once. */
const [server, version, downloadDir] = process.argv.slice(2);
// The SDK deletes a file older than its ttl before it has a new one.
const executable = { type: 'cached-download', downloadDir, version, ttl: '365 days' } as const;
try {
  const environment =
    server === 'dev-server'
      ? await TestWorkflowEnvironment.createLocal({ server: { executable } })
      : await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } });
  await environment.teardown();
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
