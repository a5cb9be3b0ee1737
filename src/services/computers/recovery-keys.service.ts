import type { ActivitySettings, EncryptionKey } from '../../process/config.ts';
import { ACTIVITY_GROUP } from '../../domain/activities/kinds.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { readBaseActivity } from '../../persistence/activities/activities.repository.ts';
import { createGroup } from '../../persistence/activities/activity-creation.repository.ts';
import { recordEvent } from '../../persistence/events/events.repository.ts';
import {
  GENERATE_RECOVERY_KEY,
  isGenerating,
  lockKeyTarget,
  readEncryptedKey,
  readUnfinishedGeneration,
  type EncryptedKeyRow,
} from '../../persistence/computers/recovery-keys.repository.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { type BaseActivity, toBaseActivity } from '../activities/activity-views.ts';
import type { Caller, Clock } from '../common/ports.ts';
import { requirePrior } from '../activities/prior-activity.ts';
import { decryptSecret, recoveryKeyContext } from '../common/secret-box.ts';
import { requireTargets } from '../activities/targets.ts';

export interface RecoveryKey {
  /** The latest generation, unless it succeeded. */
  activity: BaseActivity | null;
  /** Null before the first generation. */
  key: string | null;
}

export interface GenerateCommand {
  computerId: number;
  /** Also while another generation is open. */
  force: boolean;
  /** Activity that must succeed on the computer first; null for none. */
  after: number | null;
  traceparent?: string | null;
}

export interface RecoveryKeysService {
  /**
   * Reads the key of a computer and records an event in the same transaction.
   * @throws {DomainError} UnknownComputer, Forbidden; ServiceUnavailable when the encryption key is not configured
   * @see docs/api-conventions.md#recovery-keys
   */
  read(caller: Caller, computerId: number): Promise<RecoveryKey>;
  /**
   * Makes the computer generate a new key, which replaces the stored one on success. @returns the group
   * @throws {DomainError} UnknownComputer, Forbidden, ComputerArchived, FdeNotSupported; ActivityInProgress while a
   * generation is open, unless `force` is set
   */
  generate(caller: Caller, command: GenerateCommand): Promise<BaseActivity>;
}

interface Deps {
  db: Database;
  clock: Clock;
  settings: ActivitySettings;
  encryptionKeys: readonly EncryptionKey[];
}

export function createRecoveryKeysService(deps: Deps): RecoveryKeysService {
  const { db, clock } = deps;
  return {
    read: (caller, computerId) =>
      db.transaction(async (tx) => {
        await requireTargets(tx, caller, [computerId], 'ManageComputer', { archived: 'allowed' });
        const stored = await readEncryptedKey(tx, computerId);
        if (!stored) throw unknownComputer(computerId);
        const key = stored.key && open(deps.encryptionKeys, stored.key);
        const now = clock.now();
        const activity = await readUnfinishedGeneration(tx, computerId, now);
        await recordEvent(tx, caller, {
          entityType: 'Computer',
          entityId: computerId,
          entityName: stored.title,
          message: `${key === null ? 'Looked for' : 'Read'} the recovery key of the computer ${stored.title}`,
        });
        return { activity: activity && toBaseActivity(activity, now), key };
      }),
    generate: (caller, command) => db.transaction((tx) => generate(tx, deps, caller, command)),
  };
}

async function generate(tx: Sql, deps: Deps, caller: Caller, command: GenerateCommand): Promise<BaseActivity> {
  const { computerId, force } = command;
  await requireTargets(tx, caller, [computerId], 'ManageComputer');
  const target = await lockKeyTarget(tx, computerId);
  if (!target) throw unknownComputer(computerId);
  if (!target.supported) {
    throw new DomainError('FdeNotSupported', `Computer ${computerId} has no disk encryption with a TPM`);
  }
  if (!force && (await isGenerating(tx, computerId))) {
    throw new DomainError('ActivityInProgress', `A recovery key is being generated for computer ${computerId}`);
  }
  const now = deps.clock.now();
  const afterActivity = await requirePrior(tx, caller, command.after, [computerId], now);
  const summary = `Generate FDE recovery key for computer ${computerId}`;
  const group = await createGroup(
    tx,
    {
      accountId: caller.accountId,
      creatorId: caller.personId,
      type: ACTIVITY_GROUP,
      summary,
      now,
      deliverAfter: null,
      windowMinutes: 0,
      computers: [computerId],
      afterActivity,
      operations: [
        { type: GENERATE_RECOVERY_KEY, summary, message: { type: 'fde-recovery-key', fields: { action: 'generate' } } },
      ],
      parameters: { operation: 'recovery-key', force },
      traceparent: command.traceparent ?? null,
    },
    deps.settings,
  );
  await recordEvent(tx, caller, {
    entityType: 'Activity',
    entityId: group,
    entityName: summary,
    message: `Requested a new recovery key from the computer ${target.title}`,
  });
  return toBaseActivity(await readBaseActivity(tx, group, now), now);
}

function open(keys: readonly EncryptionKey[], { computer_id, key_id, ciphertext }: EncryptedKeyRow): string {
  if (!keys.some(({ id }) => id === key_id)) {
    throw new DomainError('ServiceUnavailable', 'The key that this recovery key is encrypted with is not configured', {
      retryAfterSeconds: 60,
    });
  }
  return decryptSecret(keys, { keyId: key_id, ciphertext }, recoveryKeyContext(computer_id));
}

function unknownComputer(id: number): DomainError {
  return new DomainError('UnknownComputer', `There is no computer ${id}`);
}
