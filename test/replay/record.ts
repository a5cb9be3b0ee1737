import { mkdir, readdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { NativeConnection } from '@temporalio/worker';
import { loadConfig } from '../../src/process/config.ts';
import { bootstrap } from '../../temporal/bootstrap.ts';
import { connectClient, serverOptions } from '../../temporal/client/connection.ts';
import { FakeBatches, FakeProfiles, FakeReports } from '../support/activities/fakes.ts';
import { quietRuntime, TEST_KEYS, withReportWorker, withWorker } from '../support/temporal/workflow-environment.ts';
import { writeHistory } from './history-file.ts';
import { type FakeAudits, type Scenario, scheduledSteps, webhookSteps } from './paths.ts';
import { SCENARIOS } from './scenarios.ts';

/**
 * Records the histories that test/replay replays: `FLOTILLA_TEMPORAL_ADDRESS=<server> node test/replay/record.ts
 * [scenario ...]`. Without names it records all of them anew. The server of `npm start` needs its certificates:
 * FLOTILLA_TEMPORAL_TLS_CA, _CERT, _KEY and _SERVER_NAME=flotilla-temporal, from `temporal/tls` of the data directory.
 *
 * A scenario that continues as new needs a server whose dynamic configuration has
 * `limit.historyCount.suggestContinueAsNew: 20`; with it, record no other.
 *
 * To be run when a workflow gets a new path, or with the release of a new shape: then under a new name, because the
 * histories of older shapes have to stay replayable for as long as such workflows can be open.
 */
const DIRECTORY = fileURLToPath(new URL('./histories', import.meta.url));
const { temporalAddress, temporalTls } = loadConfig(process.env, 'stack');
const settings = {
  temporalAddress: temporalAddress ?? '127.0.0.1:7233',
  temporalTls,
  temporalNamespace: 'flotilla-record',
  encryptionKeys: TEST_KEYS,
};
const names = process.argv.slice(2);
const chosen = SCENARIOS.filter(({ name }) => names.length === 0 || names.includes(name));
let nextId = 1;

quietRuntime();
await bootstrap(settings);
const connection = await NativeConnection.connect(serverOptions(settings));
const { client, close } = await connectClient(settings);
await mkdir(DIRECTORY, { recursive: true });
for (const scenario of chosen) await record(scenario);
await close();
await connection.close();
process.exit(0);

async function record(scenario: Scenario): Promise<void> {
  const batches = new FakeBatches();
  const profiles = new FakeProfiles();
  const reports = new FakeReports();
  const audits: FakeAudits = { steps: 1 };
  const unique = Date.now();
  const group = unique + nextId++;
  const ids = scenario.sizes.map(() => unique + nextId++);
  for (const [place, id] of ids.entries()) batches.add(id, scenario.sizes[place]!);
  const activities = {
    ...batches.activities(client, ids),
    ...profiles.activities(),
    ...reports.activities(client),
    ...scheduledSteps(audits),
    ...webhookSteps(),
  };
  const setup = { connection, namespace: settings.temporalNamespace, activities };
  const workflowIds = await withWorker(setup, (taskQueue) => {
    const run = () => scenario.run({ batches, profiles, reports, audits, client, taskQueue, ids, group });
    return scenario.withoutReportWorker ? run() : withReportWorker(setup, run);
  });
  for (const file of await readdir(DIRECTORY)) {
    if (file.startsWith(`${scenario.name}.`)) await rm(`${DIRECTORY}/${file}`);
  }
  let run = 0;
  for (const workflowId of workflowIds) {
    for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      await writeHistory(`${DIRECTORY}/${scenario.name}.${++run}.json`, history);
    }
  }
  console.log(`${scenario.name}: ${run} run(s)`);
}
