import { createHmac } from 'node:crypto';
import type { EncryptionKey } from '../../process/config.ts';

/**
 * The registration key of the stack's simulated computers: they enrol whatever the account's key, and are accepted at
 * once. Only holders of the encryption key can compute it.
 * @returns null without an encryption key
 */
export function simulationKey([first]: readonly EncryptionKey[]): string | null {
  return first ? createHmac('sha256', first.key).update('simulated computers').digest('base64url') : null;
}
