import { openPersistence } from '../src/persistence/orm/orm.ts';
import { runCommand } from '../src/process/command.ts';
import { systemClock } from '../src/services/common/ports.ts';
import { type RestoreReport, repairAfterRestore } from '../src/services/engine/restore.ts';
import { connectClient } from '../temporal/client/connection.ts';
import { createProfileKinds } from './process/parts.ts';
import { createWorkflows } from './reconciler/ports.ts';

const HELP = `npm run after-restore

Brings a database that was restored from a backup in line with the Temporal server and the agents, before gateways and
APIs start: ends operations whose outcome is not known, skips missed runs of profiles, revokes every login, moves ids
ahead, terminates workflows without rows. Safe to repeat; cannot be undone.

  --help  this text`;

await runCommand({ name: 'after-restore', role: 'process', help: HELP, env: process.env }, async (config, logger) => {
  const persistence = await openPersistence({
    url: config.databaseUrl!,
    poolSize: 4,
    applicationName: 'flotilla-after-restore',
  });
  const { client, close } = await connectClient(config);
  try {
    const { db } = persistence;
    const { publicUrl, activities: settings, scriptProfiles: limits } = config;
    const kinds = createProfileKinds({ db, settings, limits, publicUrl, logger });
    const deps = { db, workflows: createWorkflows({ client, publicUrl }), kinds, clock: systemClock, logger };
    const done = await repairAfterRestore(deps, Date.now());
    process.stdout.write(`${describe(done)}\n`);
  } finally {
    await close();
    await persistence.close();
  }
});

function describe({ operations, workflows, skippedRuns: dates }: RestoreReport): string {
  const parts = [
    `${operations} operations of unknown outcome ended`,
    `${workflows.length} workflows terminated`,
    `${dates} missed runs skipped`,
  ];
  return `after the restore: ${parts.join(', ')}, every login revoked, ids moved ahead`;
}
