import type { AuditReport, PackageChangeResult } from '../../domain/agents/facts.ts';
import { AUDIT_REPORTS, RESULTS_CHANNEL, SMALL_BATCH } from '../activities/outbox.sql.ts';
import type { Sql } from '../database/sql.ts';

interface EncryptedRecoveryKey {
  computerId: number;
  operationId: number;
  keyId: string;
  ciphertext: Buffer;
  now: Date;
}

/** Saves a key that came with the first result of an operation of this computer, unless a newer one is stored. */
export async function saveRecoveryKey(tx: Sql, key: EncryptedRecoveryKey): Promise<void> {
  await tx.query(SAVE_RECOVERY_KEY, key);
}

/** Saves the report of an audit of this computer, and notifies workers; the first one of an operation counts. */
export async function saveAuditReport(tx: Sql, computerId: number, report: AuditReport, now: Date): Promise<void> {
  await tx.query(SAVE_AUDIT_REPORT, { ...report, computerId, now });
}

/** Saves which other packages a change of packages needs, without those that the account may not name. */
export async function savePackageResult(tx: Sql, computerId: number, result: PackageChangeResult): Promise<void> {
  await tx.query(SAVE_PACKAGE_RESULT, { ...result, computerId });
}

const whereSent = (messageType: string) => `
  from agent_message m join operation_payload p on p.id = m.payload_id join activity a on a.id = m.activity_id
  where m.activity_id = :operationId and m.computer_id = :computerId and m.state in ('sent', 'acked', 'dropped')
    and p.message_type = '${messageType}'`;

const firstResult = (expression: string) => `(
    select ${expression} from agent_inbox i
    where i.activity_id = m.activity_id and i.kind = 'result' order by i.id limit 1)`;

// This exchange's result is in the inbox already; one of another transaction came earlier.
const FIRST_RESULT_NOW = `a.status not in ('succeeded', 'failed')
    and ${firstResult('i.ok and i.xmin = pg_current_xact_id()::xid')}`;

// The key of the newer generation wins, whichever is reported first.
const SAVE_RECOVERY_KEY = `
  insert into computer_recovery_key (computer_id, activity_id, key_id, sealed, created_at)
  select :computerId, :operationId, :keyId, :ciphertext, :now ${whereSent('fde-recovery-key')} and ${FIRST_RESULT_NOW}
  on conflict (computer_id) do update set activity_id = excluded.activity_id, key_id = excluded.key_id,
    sealed = excluded.sealed, created_at = excluded.created_at
  where computer_recovery_key.activity_id < excluded.activity_id`;

// A report can arrive before, with or after its result; that of a failed audit is ignored.
const SAVE_AUDIT_REPORT = `
  insert into usg_audit_report (activity_id, computer_id, run_id, report, received_at)
  select :operationId, :computerId, :runId, :report, :now ${whereSent('usg')}
    and a.status <> 'failed' and ${firstResult('i.ok')} is distinct from false
  on conflict (activity_id) do nothing
  returning (select pg_notify('${RESULTS_CHANNEL}', '${AUDIT_REPORTS}') from activity a join lane l on l.id = a.lane_id
    where a.id = :operationId and l.size <= ${SMALL_BATCH})`;

const onlyNamable = (ids: string) => `
  array(select u.id from unnest(${ids}::int[]) with ordinality u(id, ordinal)
    where u.id <@ (select ids from namable) order by u.ordinal)`;

const SAVE_PACKAGE_RESULT = `
  with namable as (
    select coalesce(k.known, '{}') + coalesce(s.installed + s.available + s.available_upgrades, '{}') as ids
    from computer c left join account_packages k on k.account_id = c.account_id
    left join computer_packages s on s.computer_id = c.id where c.id = :computerId
  )
  insert into package_change_result (activity_id, computer_id, must_install, must_remove)
  select :operationId, :computerId, ${onlyNamable(':mustInstall')}, ${onlyNamable(':mustRemove')}
    ${whereSent('change-packages')}
  on conflict (activity_id) do nothing`;
