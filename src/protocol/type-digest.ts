import { createHash } from 'node:crypto';
import { compareCodePoints } from './values.ts';

/** The 16-byte digest for comparing lists of message types. @see docs/agent-protocol.md#exchange-payloads */
export function typeListDigest(types: Iterable<string>): Buffer {
  return createHash('md5')
    .update([...types].sort(compareCodePoints).join(';'))
    .digest();
}
