// Worker and client of no-op workflows in one process: the baseline of benchmarks.
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, type InjectedSinks, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { loadConfig } from '../../../src/process/config.ts';
import { serverOptions } from '../../../temporal/client/connection.ts';
import { createDataConverter } from '../../../temporal/encryption/data-converter.ts';
import type { BareSinks, NoOpCommand, NoOpReply } from './no-op.contract.ts';

const TASK_QUEUE = 'bench-no-op';

const config = loadConfig(process.env, 'process');
const server = serverOptions(config);
const namespace = config.temporalNamespace;
// The product's converter, so that both sides pay for encryption.
const dataConverter = createDataConverter(config.encryptionKeys);

Runtime.install({ logger: new DefaultLogger('WARN') });
const nativeConnection = await NativeConnection.connect(server);
const client = new Client({ connection: await Connection.connect(server), namespace, dataConverter });
const sinks: InjectedSinks<BareSinks> = {
  bare: { waits: { fn: ({ workflowId }) => client.workflow.getHandle(workflowId).signal('go') } },
};
const worker = await Worker.create({
  connection: nativeConnection,
  namespace,
  taskQueue: TASK_QUEUE,
  workflowsPath: fileURLToPath(new URL('no-op.workflow.ts', import.meta.url)),
  dataConverter,
  sinks,
});
const run = worker.run();
let serial = 0;

/** Runs `count` workflows, `parallel` at a time, each from start to result. */
async function runAll({ count, parallel, workflow = 'noOp' }: NoOpCommand): Promise<NoOpReply> {
  const from = performance.now();
  let left = count;
  const one = async () => {
    while (left-- > 0) {
      const workflowId = `bench-no-op-${process.pid}-${serial++}`;
      const result = await client.workflow.execute(workflow, { workflowId, taskQueue: TASK_QUEUE });
      if (result !== 1) throw new Error(`${workflow} returned ${String(result)}`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, one));
  return { count, seconds: (performance.now() - from) / 1000 };
}

process.on('message', (command: NoOpCommand) => {
  runAll(command).then(
    (reply) => process.send?.(reply),
    (error: unknown) => process.send?.({ error: String(error) } satisfies NoOpReply),
  );
});
process.on('disconnect', () => {
  worker.shutdown();
  void run.finally(() => process.exit(0));
});
process.send?.({ ready: true });
