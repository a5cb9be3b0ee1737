import { createHmac } from 'node:crypto';
import type { EncryptionKey } from '../../process/config.ts';

/** Simulated computers enrol with it, accepted at once. Derived from the encryption key; null without one. */
export function simulationKey([first]: readonly EncryptionKey[]): string | null {
  return first ? createHmac('sha256', first.key).update('simulated computers').digest('base64url') : null;
}
