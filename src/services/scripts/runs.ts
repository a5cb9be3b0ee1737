import { readDelivery } from '../../domain/activities/delivery.ts';
import { computersText } from '../../domain/activities/summary.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { runEnvironment } from '../../domain/scripts/environment.ts';
import { type RunnableScript, runSummary, scriptOperation } from '../../domain/scripts/script.ts';
import { lockFleetShared } from '../../persistence/computers/targets.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { lockScript } from '../../persistence/scripts/scripts.repository.ts';
import { readRunnableScript } from '../../persistence/scripts/scripts.sql.ts';
import type { BaseActivity } from '../activities/displayed-activities.ts';
import { createAction } from '../activities/computer-actions.ts';
import { requireTargets } from '../activities/targets.ts';
import type { Caller } from '../common/ports.ts';
import { type ActingQuery, resolveComputerQuery } from '../query/computer-queries.ts';
import { requireActive } from './changes.ts';
import type { ScriptCommand, ScriptsDeps } from './model.ts';
import { readUsername } from './fields.ts';
import { requireRight, requireScript } from './reads.ts';

const MAX_COMPUTERS = 100_000;

/** @throws UnknownScript, ScriptArchived, Forbidden, InvalidParameter, InvalidQueryError, SavedSearchChanged */
export async function executeScript(
  deps: ScriptsDeps,
  caller: Caller,
  id: number,
  command: ScriptCommand,
): Promise<BaseActivity> {
  const now = deps.clock.now();
  const delivery = readDelivery(command.deliverAfter, command.windowMinutes, now, 'body.deliver_after');
  const username = command.username === null ? null : readUsername(command.username);
  return deps.db.transaction(async (tx) => {
    await lockFleetShared(tx, caller.accountId);
    const row = await requireScript(tx, caller, id);
    requireRight(caller, row, 'ExecuteScript');
    const script = await lockRunnable(tx, id);
    const computers = await findTargets(tx, deps, caller, command.query);
    const run = { username: username ?? row.username, timeLimit: command.timeLimit ?? row.time_limit };
    const env = runEnvironment({ accountName: caller.accountName, creatorId: caller.personId, now }, deps.publicUrl);
    const on = computersText(computers.length);
    const plan = {
      ...delivery,
      computers,
      after: command.after,
      summary: runSummary(script),
      operations: [scriptOperation(script, { ...run, env })],
      parameters: { operation: 'run-script', script_id: id, version: script.version, ...run },
      traceparent: command.traceparent,
      event: `Ran the script ${script.title} (version ${script.version}) as ${run.username} on ${on}`,
    };
    return createAction(tx, caller, plan, { now, settings: deps.settings });
  });
}

/** The current script, locked against changes until the transaction ends. @throws {DomainError} ScriptArchived */
export async function lockRunnable(tx: Sql, id: number): Promise<RunnableScript> {
  requireActive((await lockScript(tx, id, 'use')) ?? { status: 'archived' });
  return (await readRunnableScript(tx, id))!;
}

async function findTargets(tx: Sql, { clock }: ScriptsDeps, caller: Caller, query: ActingQuery): Promise<number[]> {
  const computers = await resolveComputerQuery({ db: tx, clock }, caller, query);
  if (computers.length > MAX_COMPUTERS) {
    throw new DomainError('InvalidParameter', `body.query must not find more than ${MAX_COMPUTERS} computers`, {
      details: [{ path: 'body.query', message: `finds ${computers.length} computers` }],
    });
  }
  await requireTargets(tx, caller, computers, 'ExecuteScript');
  return computers;
}
