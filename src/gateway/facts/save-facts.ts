import type { EncryptionKey } from '../../config.ts';
import type { Sql } from '../../persistence/sql.ts';
import { recoveryKeyContext, sealSecret } from '../../services/secret-box.ts';
import type { Facts, RejectedMessage } from './facts.ts';
import { MAX_INT4 } from './fields.ts';
import { savePackages } from './packages.ts';
import { saveProcesses } from './processes.ts';
import { saveComputer, saveInventory, saveOwnAnnotations, saveOwnTags } from './save-computer.ts';
import { saveHardware, saveNetwork, saveSnaps } from './save-devices.ts';
import { saveUsers } from './users.ts';

export interface SaveContext {
  computerId: number;
  now: Date;
  encryptionKeys: readonly EncryptionKey[];
}

/** Tells whether {@link saveFacts} would write anything. */
export function hasFacts(facts: Facts): boolean {
  return (
    Object.keys(facts.computer).length > 0 ||
    Object.keys(facts.inventory).length > 0 ||
    Object.keys(facts.unparsed).length > 0 ||
    facts.rejected.length > 0 ||
    facts.recoveryKeys.length + facts.auditReports.length + facts.packageResults.length > 0 ||
    [facts.tags, facts.annotations, facts.network, facts.hardware].some((fact) => fact !== null) ||
    [facts.snaps, facts.processes, facts.users, facts.packages].some((fact) => fact !== null)
  );
}

/**
 * Saves what an approved computer reported, each kind of fact in one statement.
 *
 * @returns whether the package sets have come apart, so that the agent should report them afresh
 */
export async function saveFacts(tx: Sql, context: SaveContext, facts: Facts): Promise<{ packagesApart: boolean }> {
  const { computerId, now } = context;
  if (Object.keys(facts.computer).length > 0) await saveComputer(tx, computerId, facts.computer);
  if (Object.keys(facts.inventory).length + Object.keys(facts.unparsed).length > 0) {
    await saveInventory(tx, computerId, facts.inventory, facts.unparsed);
  }
  if (facts.tags) await saveOwnTags(tx, computerId, facts.tags);
  if (facts.annotations) await saveOwnAnnotations(tx, computerId, facts.annotations);
  if (facts.network) await saveNetwork(tx, computerId, facts.network);
  if (facts.hardware !== null) await saveHardware(tx, computerId, facts.hardware, now);
  if (facts.snaps) await saveSnaps(tx, computerId, facts.snaps);
  if (facts.processes) await saveProcesses(tx, [{ computerId, delta: facts.processes }]);
  if (facts.users) await saveUsers(tx, computerId, facts.users);
  await saveReports(tx, context, facts);
  if (facts.rejected.length > 0) await saveRejected(tx, computerId, facts.rejected, now);
  return { packagesApart: facts.packages !== null && !(await savePackages(tx, computerId, facts.packages, now)) };
}

/** Counts messages without effect by type, with the last reason. */
export async function saveRejected(
  tx: Sql,
  computerId: number,
  rejected: readonly RejectedMessage[],
  now: Date,
): Promise<void> {
  const byType = new Map<string, { reason: string; seen: number }>();
  for (const { type, reason } of rejected) byType.set(type, { reason, seen: (byType.get(type)?.seen ?? 0) + 1 });
  const entries = [...byType].sort(([a], [b]) => (a < b ? -1 : 1));
  await tx.query(
    `insert into agent_rejected_message as known (computer_id, type, reason, seen, last_seen_at)
     select $1, r.type, r.reason, r.seen, $5 from unnest($2::text[], $3::text[], $4::int[]) r(type, reason, seen)
     on conflict (computer_id, type) do update
       set reason = excluded.reason, seen = known.seen + excluded.seen, last_seen_at = excluded.last_seen_at`,
    [
      computerId,
      entries.map(([type]) => type),
      entries.map(([, { reason }]) => reason),
      entries.map(([, { seen }]) => seen),
      now,
    ],
  );
}

/** Keeps what belongs to operations of this very computer beside their results; anything else is ignored. */
async function saveReports(tx: Sql, context: SaveContext, facts: Facts): Promise<void> {
  const { computerId, now } = context;
  const known = (id: number) => id >= 1 && id <= MAX_INT4;
  for (const { operationId, key } of facts.recoveryKeys.filter((item) => known(item.operationId))) {
    const { keyId, sealed } = sealSecret(context.encryptionKeys, key, recoveryKeyContext(computerId));
    await tx.query(SAVE_RECOVERY_KEY, [computerId, operationId, keyId, sealed, now]);
  }
  for (const { operationId, runId, report } of facts.auditReports.filter((item) => known(item.operationId))) {
    await tx.query(SAVE_AUDIT_REPORT, [computerId, operationId, runId, report, now]);
  }
  for (const result of facts.packageResults.filter((item) => known(item.operationId))) {
    await tx.query(SAVE_PACKAGE_RESULT, [computerId, result.operationId, result.mustInstall, result.mustRemove]);
  }
}

const handedOut = (messageType: string) => `
  from agent_message m join operation_payload p on p.id = m.payload_id
  where m.activity_id = $2 and m.computer_id = $1 and m.state in ('sent', 'acked', 'dropped')
    and p.message_type = '${messageType}'`;

const SAVE_RECOVERY_KEY = `
  insert into computer_recovery_key (computer_id, activity_id, key_id, sealed, created_at)
  select $1, $2, $3, $4, $5 ${handedOut('fde-recovery-key')}
  on conflict (computer_id) do update set activity_id = excluded.activity_id, key_id = excluded.key_id,
    sealed = excluded.sealed, created_at = excluded.created_at`;

const SAVE_AUDIT_REPORT = `
  insert into usg_audit_report (activity_id, computer_id, run_id, report, received_at)
  select $2, $1, $3, $4, $5 ${handedOut('usg')}
  on conflict (activity_id) do nothing`;

const SAVE_PACKAGE_RESULT = `
  insert into package_change_result (activity_id, computer_id, must_install, must_remove)
  select $2, $1, $3, $4 ${handedOut('change-packages')}
  on conflict (activity_id) do nothing`;
