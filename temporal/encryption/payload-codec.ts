import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { METADATA_ENCODING_KEY, type Payload, type PayloadCodec, ValueError } from '@temporalio/common';
import { decode as decodeText, encode as encodeText } from '@temporalio/common/lib/encoding.js';
import proto from '@temporalio/proto';
import type { EncryptionKey } from '../../src/process/config.ts';

const { Payload: ProtoPayload } = proto.temporal.api.common.v1;

const ENCODING = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';
/** The server records it with a canceled activity that no worker had started. */
const NOT_STARTED = '"ACTIVITY_ID_NOT_STARTED"';
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts every payload with AES-256-GCM. Its metadata holds the id of the key: the first encrypts, all decrypt. */
export class EncryptionCodec implements PayloadCodec {
  // A cipher takes a KeyObject in a third of the time that it takes for a Buffer.
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #current: { id: string; key: KeyObject };

  constructor(keys: readonly EncryptionKey[]) {
    const prepared = keys.map(({ id, key }) => ({ id, key: createSecretKey(key) }));
    const [current] = prepared;
    if (!current) throw new ValueError('at least one encryption key is required');
    this.#current = current;
    this.#keys = new Map(prepared.map(({ id, key }) => [id, key]));
  }

  /** Encrypts with the first key; a payload that is already encrypted is encrypted again. */
  async encode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => this.#encrypt(payload));
  }

  /** @throws {ValueError} when a payload has an unknown key, was modified, or is not encrypted, so not ours */
  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => {
      if (isEncrypted(payload)) return this.#decrypt(payload);
      if (payload.data && decodeText(payload.data) === NOT_STARTED) return payload;
      throw new ValueError('payload is not encrypted, so it is not from this deployment');
    });
  }

  /** As {@link decode}, for display: unencrypted payloads are returned unchanged. */
  async reveal(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => (isEncrypted(payload) ? this.#decrypt(payload) : payload));
  }

  /** Whether a payload is encrypted with a key other than the first, known or not. */
  isOutdated(payload: Payload): boolean {
    return isEncrypted(payload) && keyIdOf(payload) !== this.#current.id;
  }

  /** Encrypts an outdated payload with the first key; others stay. @throws {ValueError} as {@link decode} */
  async renew(payload: Payload): Promise<Payload> {
    return this.isOutdated(payload) ? this.#encrypt(this.#decrypt(payload)) : payload;
  }

  #encrypt(payload: Payload): Payload {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#current.key, iv);
    const plain = ProtoPayload.encode(payload).finish();
    const data = Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return {
      metadata: { [METADATA_ENCODING_KEY]: encodeText(ENCODING), [KEY_ID]: encodeText(this.#current.id) },
      data,
    };
  }

  #decrypt(payload: Payload): Payload {
    const id = keyIdOf(payload);
    const key = this.#keys.get(id);
    if (!key) throw new ValueError(`payload is encrypted with key "${id}", which is not configured`);
    return ProtoPayload.decode(open(key, Buffer.from(payload.data ?? [])));
  }
}

function isEncrypted({ metadata }: Payload): boolean {
  const encoding = metadata?.[METADATA_ENCODING_KEY];
  return encoding !== undefined && decodeText(encoding) === ENCODING;
}

function keyIdOf({ metadata }: Payload): string {
  const keyId = metadata?.[KEY_ID];
  return keyId ? decodeText(keyId) : '';
}

function open(key: KeyObject, data: Buffer): Buffer {
  if (data.length < IV_BYTES + TAG_BYTES) throw new ValueError('encrypted payload is cut short');
  const decipher = createDecipheriv(CIPHER, key, data.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(data.subarray(data.length - TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(data.subarray(IV_BYTES, data.length - TAG_BYTES)), decipher.final()]);
  } catch {
    throw new ValueError('payload cannot be decrypted: wrong key or changed on its way');
  }
}
