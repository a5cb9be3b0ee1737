import {
  type Cancellation,
  cancelActivities,
  lockBatchesOf,
} from '../../persistence/activities/activity-cancel.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { recordEvent } from '../../persistence/events/events.repository.ts';
import { deleteAttachments } from '../../persistence/scripts/script-attachments.repository.ts';
import { archiveProfilesOfScript } from '../../persistence/scripts/script-profiles.repository.ts';
import { findOpenRuns, wipeCode } from '../../persistence/scripts/script-redaction.repository.ts';
import { updateScript } from '../../persistence/scripts/scripts.repository.ts';
import type { Caller } from '../common/ports.ts';
import { eventOf, lockManageable, profilesText } from './changes.ts';
import type { ScriptsDeps } from './model.ts';
import { disableTriggers } from './profiles/trigger-dates.ts';
import { requireRight, requireScript } from './reads.ts';

/** Archives a script; open runs continue. */
export async function archiveScript(deps: ScriptsDeps, caller: Caller, id: number): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const script = await lockManageable(tx, caller, id);
    if (script.status !== 'active') return;
    const now = deps.clock.now();
    await updateScript(tx, id, { status: 'archived' }, { editorId: caller.personId, now });
    await disableTriggers(tx, await archiveProfilesOfScript(tx, id, now), now);
    await recordEvent(tx, caller, eventOf(script, `Archived the script ${script.title}${profilesText(script)}`));
  });
}

/** Deletes the code of a script everywhere and cancels its open runs. */
export async function redactScript(
  deps: ScriptsDeps,
  caller: Caller,
  id: number,
  traceparent: string | null,
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    requireRight(caller, await requireScript(tx, caller, id), 'ManageScript');
    // Batches are locked before all other rows; runs that start until the script is locked are found afterwards.
    await lockBatchesOf(tx, caller.accountId, await findOpenRuns(tx, id));
    const script = await lockManageable(tx, caller, id);
    if (script.status === 'redacted') return;
    const now = deps.clock.now();
    await updateScript(tx, id, { status: 'redacted' }, { editorId: caller.personId, now });
    await disableTriggers(tx, await archiveProfilesOfScript(tx, id, now), now);
    await cancelRuns(tx, caller, id, { now, traceparent });
    await wipeCode(tx, id);
    await deleteAttachments(tx, id);
    await recordEvent(tx, caller, eventOf(script, `Redacted the script ${script.title}${profilesText(script)}`));
  });
}

async function cancelRuns(
  tx: Sql,
  { accountId }: Caller,
  id: number,
  order: Pick<Cancellation, 'now' | 'traceparent'>,
): Promise<void> {
  const operations = await findOpenRuns(tx, id);
  if (operations.length === 0) return;
  await lockBatchesOf(tx, accountId, operations);
  await cancelActivities(tx, { ...order, accountId, groups: [], operations, text: 'The script was redacted.' });
}
