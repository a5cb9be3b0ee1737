import type { EncryptionKey } from '../../process/config.ts';
import {
  countUnreadableKeys,
  lockKeysToRotate,
  replaceEncryptedKeys,
} from '../../persistence/computers/recovery-keys.repository.ts';
import type { Database } from '../../persistence/database/sql.ts';
import { decryptSecret, recoveryKeyContext, encryptSecret } from '../common/secret-box.ts';

const BATCH = 500;

export interface Rotation {
  rotated: number;
  /** Keys whose encryption key is no longer configured; they do not change. */
  unreadable: number;
}

/**
 * Re-encrypts every stored recovery key with the first encryption key, so that the others can be removed.
 * @remarks Uses short transactions that skip locked rows. Several processes may do this at once, and an interrupted
 * rotation continues at the next start. Does nothing without encryption keys.
 * @throws when a stored key was tampered with
 */
export async function rotateRecoveryKeys(db: Database, keys: readonly EncryptionKey[]): Promise<Rotation> {
  const [first] = keys;
  if (!first) return { rotated: 0, unreadable: 0 };
  const ids = keys.map(({ id }) => id);
  let rotated = 0;
  for (let moved = BATCH; moved === BATCH; rotated += moved) {
    moved = await db.transaction(async (tx) => {
      const rows = await lockKeysToRotate(tx, first.id, ids, BATCH);
      const fresh = rows.map(({ computer_id, key_id, ciphertext }) => {
        const context = recoveryKeyContext(computer_id);
        const secret = encryptSecret(keys, decryptSecret(keys, { keyId: key_id, ciphertext }, context), context);
        return { computer_id, key_id: secret.keyId, ciphertext: secret.ciphertext };
      });
      if (fresh.length > 0) await replaceEncryptedKeys(tx, fresh);
      return rows.length;
    });
  }
  return { rotated, unreadable: await countUnreadableKeys(db, ids) };
}
