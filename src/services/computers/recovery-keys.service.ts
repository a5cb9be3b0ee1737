import { DomainError } from '../../domain/common/errors.ts';
import {
  GENERATE_RECOVERY_KEY,
  isGenerating,
  lockKeyTarget,
  readEncryptedKey,
  readUnfinishedGeneration,
} from '../../persistence/computers/recovery-keys.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import type { EncryptionKey } from '../../process/config.ts';
import { type BaseActivity, toBaseActivity } from '../activities/displayed-activities.ts';
import { type ActingDeps, type ActionRequest, createAction } from '../activities/computer-actions.ts';
import { requireTargets } from '../activities/targets.ts';
import { readLine } from '../common/fields.ts';
import type { Caller } from '../common/ports.ts';
import { decryptSecret, type EncryptedSecret, recoveryKeyContext } from '../common/secret-box.ts';

export interface RecoveryKey {
  /** The latest generation, unless it succeeded. */
  activity: BaseActivity | null;
  /** Null before the first generation. */
  key: string | null;
}

interface GenerateCommand extends Pick<ActionRequest, 'after' | 'traceparent'> {
  computerId: number;
  force: boolean;
}

interface Deps extends ActingDeps {
  encryptionKeys: readonly EncryptionKey[];
}

export function createRecoveryKeysService(deps: Deps) {
  const { db, clock } = deps;
  return {
    /**
     * Records an event in the same transaction. @throws {DomainError} UnknownComputer, Forbidden, InvalidParameter;
     * ServiceUnavailable without the encryption key @see docs/api-conventions.md#recovery-keys
     */
    read: (caller: Caller, computerId: number, reason: string | undefined): Promise<RecoveryKey> =>
      db.transaction(async (tx) => {
        const why = reason === undefined ? '' : `: ${readLine('query.reason', reason)}`;
        await requireTargets(tx, caller, [computerId], 'ManageComputer', { archived: 'allowed' });
        const stored = await readEncryptedKey(tx, computerId);
        const key = stored.key && open(deps.encryptionKeys, stored.key, computerId);
        const now = clock.now();
        const activity = await readUnfinishedGeneration(tx, computerId, now);
        await recordEvent(tx, caller, {
          entityType: 'Computer',
          entityId: computerId,
          entityName: stored.title,
          message: `${key === null ? 'Looked for' : 'Read'} the recovery key of the computer ${stored.title}${why}`,
        });
        return { activity: activity && toBaseActivity(activity, now), key };
      }),
    /** @throws UnknownComputer, Forbidden, ComputerArchived, FdeNotSupported; ActivityInProgress unless `force` */
    generate: (caller: Caller, command: GenerateCommand) => db.transaction((tx) => generate(tx, deps, caller, command)),
  };
}

async function generate(tx: Sql, deps: Deps, caller: Caller, command: GenerateCommand): Promise<BaseActivity> {
  const { computerId, force, after, traceparent } = command;
  await requireTargets(tx, caller, [computerId], 'ManageComputer');
  const { title, supported } = await lockKeyTarget(tx, computerId);
  if (!supported) {
    throw new DomainError('FdeNotSupported', `Computer ${computerId} has no disk encryption with a TPM`);
  }
  if (!force && (await isGenerating(tx, computerId))) {
    throw new DomainError('ActivityInProgress', `A recovery key is being generated for computer ${computerId}`);
  }
  const summary = `Generate FDE recovery key for computer ${computerId}`;
  const message = { type: 'fde-recovery-key', fields: { action: 'generate' } };
  const action = {
    computers: [computerId],
    after,
    summary,
    operations: [{ type: GENERATE_RECOVERY_KEY, summary, message }],
    parameters: { operation: 'recovery-key', force },
    deliverAfter: null,
    windowMinutes: 0,
    traceparent,
    event: `Requested a new recovery key from the computer ${title}`,
  };
  return createAction(tx, caller, action, { now: deps.clock.now(), settings: deps.settings });
}

function open(keys: readonly EncryptionKey[], key: EncryptedSecret, computerId: number): string {
  if (!keys.some(({ id }) => id === key.keyId)) {
    throw new DomainError('ServiceUnavailable', 'The key that this recovery key is encrypted with is not configured', {
      retryAfterSeconds: 60,
    });
  }
  return decryptSecret(keys, key, recoveryKeyContext(computerId));
}
