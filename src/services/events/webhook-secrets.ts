import { randomBytes } from 'node:crypto';
import { DomainError } from '../../domain/common/errors.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Webhook } from '../../persistence/events/webhook.entity.ts';
import { lockWebhooksOfOtherKeys } from '../../persistence/events/webhooks.repository.ts';
import type { EncryptionKey } from '../../process/config.ts';
import { decryptSecret, encryptSecret } from '../common/secret-box.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;
const BATCH = 100;

const contextOf = (webhookId: number): string => `webhook/${webhookId}`;

/** A new secret as Standard Webhooks defines it, in text and encrypted. @throws ServiceUnavailable without a key */
export function createWebhookSecret(keys: readonly EncryptionKey[], webhookId: number) {
  if (keys.length === 0) throw new DomainError('ServiceUnavailable', 'No encryption key is configured');
  const secret = `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
  const { keyId, ciphertext } = encryptSecret(keys, secret, contextOf(webhookId));
  return { secret, encrypted: { keyId, secret: ciphertext } };
}

/** The secrets to sign with at this time, the current one first. @throws when their key is not configured */
export function readWebhookSecrets(keys: readonly EncryptionKey[], webhook: Webhook, now: Date): string[] {
  const { id, keyId, secret, previousKeyId, previousSecret, previousUntil } = webhook;
  const stored = [{ keyId, ciphertext: secret }];
  if (previousKeyId !== null && previousSecret !== null && previousUntil !== null && previousUntil > now) {
    stored.push({ keyId: previousKeyId, ciphertext: previousSecret });
  }
  return stored.map((encrypted) => decryptSecret(keys, encrypted, contextOf(id)));
}

/** Re-encrypts secrets with the first encryption key, except unreadable ones. May run concurrently. @returns how many */
export async function rotateWebhookKeys(db: Database, keys: readonly EncryptionKey[]): Promise<number> {
  const [first] = keys;
  if (!first) return 0;
  const readable = keys.map(({ id }) => id);
  let rotated = 0;
  for (let moved = BATCH; moved === BATCH; rotated += moved) {
    moved = await db.transaction(async (tx) => {
      const webhooks = await lockWebhooksOfOtherKeys(tx, { keyId: first.id, readable, limit: BATCH });
      for (const webhook of webhooks) tx.em.assign(webhook, reencrypted(keys, readable, webhook));
      return webhooks.length;
    });
  }
  return rotated;
}

function reencrypted(keys: readonly EncryptionKey[], readable: readonly string[], webhook: Webhook) {
  const { id, keyId, secret, previousKeyId, previousSecret } = webhook;
  const again = (storedKey: string, ciphertext: Buffer) => {
    if (!readable.includes(storedKey)) return { keyId: storedKey, ciphertext };
    return encryptSecret(keys, decryptSecret(keys, { keyId: storedKey, ciphertext }, contextOf(id)), contextOf(id));
  };
  const current = again(keyId, secret);
  const previous = previousKeyId !== null && previousSecret !== null ? again(previousKeyId, previousSecret) : null;
  return {
    keyId: current.keyId,
    secret: current.ciphertext,
    ...(previous && { previousKeyId: previous.keyId, previousSecret: previous.ciphertext }),
  };
}
