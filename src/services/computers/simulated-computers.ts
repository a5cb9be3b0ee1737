import { createHmac } from 'node:crypto';
import type { EncryptionKey } from '../../process/config.ts';

/**
 * The registration key of the computers that a stack simulates for itself: they enrol whatever key the account has, and
 * are accepted at once. Whoever can make it has the key that everything stored is encrypted with.
 *
 * @returns null without an encryption key
 */
export function simulationKey([first]: readonly EncryptionKey[]): string | null {
  return first ? createHmac('sha256', first.key).update('simulated computers').digest('base64url') : null;
}
