import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { EncryptionKey } from '../src/process/config.ts';
import { EncryptionCodec } from './payload-codec.ts';

/** Path from which clients, workers and the bundler load the failure converter. */
export const FAILURE_CONVERTER_PATH = fileURLToPath(new URL('./failure-converter.ts', import.meta.url));

/**
 * The data converter of all clients and workers: everything sent to the server is encrypted.
 * @throws when there is no key
 * @see docs/architecture.md#encryption-of-payloads
 */
export function createDataConverter(keys: readonly EncryptionKey[]): DataConverter {
  return { failureConverterPath: FAILURE_CONVERTER_PATH, payloadCodecs: [new EncryptionCodec(keys)] };
}
