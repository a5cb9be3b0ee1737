import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { EncryptionKey } from '../../src/process/config.ts';
import { EncryptionCodec } from './payload-codec.ts';

const FAILURE_CONVERTER_PATH = fileURLToPath(new URL('./failure-converter.ts', import.meta.url));

/** Encrypts everything sent to the server. @throws without a key @see docs/architecture.md#encryption-of-payloads */
export function createDataConverter(keys: readonly EncryptionKey[]): DataConverter {
  return { failureConverterPath: FAILURE_CONVERTER_PATH, payloadCodecs: [new EncryptionCodec(keys)] };
}
