import { createHmac } from 'node:crypto';
import type { EncryptionKey } from '../../process/config.ts';

/**
 * The registration key of simulated computers of a stack: they enrol whatever key the account has, and are accepted at
 * once. Only who has the encryption key of the stored data can compute it.
 * @returns null without an encryption key
 */
export function simulationKey([first]: readonly EncryptionKey[]): string | null {
  return first ? createHmac('sha256', first.key).update('simulated computers').digest('base64url') : null;
}
