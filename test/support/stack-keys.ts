import type { EncryptionKey } from '../../src/config.ts';

/** Reads FLOTILLA_ENCRYPTION_KEYS as the stack's processes get it. */
export function readEncryptionKeys(setting: string): EncryptionKey[] {
  return setting.split(',').map((part) => {
    const [id = '', encoded = ''] = part.trim().split(':');
    return { id, key: Buffer.from(encoded, 'base64') };
  });
}
