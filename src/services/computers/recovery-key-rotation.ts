import type { EncryptionKey } from '../../process/config.ts';
import { countUnreadableKeys, reencryptKeys } from '../../persistence/computers/recovery-keys.repository.ts';
import type { Database } from '../../persistence/database/sql.ts';
import { decryptSecret, recoveryKeyContext, encryptSecret } from '../common/secret-box.ts';

const BATCH = 500;

/**
 * Re-encrypts recovery keys with the first encryption key, except unreadable ones. Short transactions that skip locked
 * rows: may run concurrently, and continues at the next start. @throws when a stored key was tampered with
 */
export async function rotateRecoveryKeys(db: Database, keys: readonly EncryptionKey[]) {
  const [first] = keys;
  if (!first) return { rotated: 0, unreadable: 0 };
  const readable = keys.map(({ id }) => id);
  const which = { keyId: first.id, readable, limit: BATCH };
  let rotated = 0;
  for (let moved = BATCH; moved === BATCH; rotated += moved) {
    moved = await db.transaction((tx) =>
      reencryptKeys(tx, which, (computerId, key) => {
        const context = recoveryKeyContext(computerId);
        return encryptSecret(keys, decryptSecret(keys, key, context), context);
      }),
    );
  }
  return { rotated, unreadable: await countUnreadableKeys(db, readable) };
}
