import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { EncryptionCodec } from '../../../temporal/encryption/payload-codec.ts';

const old = { id: 'old', key: randomBytes(32) };
const current = { id: 'new', key: randomBytes(32) };
const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value)!;
const readValue = (payload: Payload): unknown => defaultPayloadConverter.fromPayload(payload);

describe('EncryptionCodec', () => {
  it('gives back what it encrypted, and shows nothing of it', async () => {
    const codec = new EncryptionCodec([current]);
    const values = [{ canary: 'very secret' }, null, 'ü'.repeat(1000), 0, [1, 2, { a: [] }], undefined];
    const encrypted = await codec.encode(values.map(payloadOf));
    for (const payload of encrypted) {
      expect(Buffer.from(payload.data!).toString('latin1')).not.toContain('very secret');
      expect(Object.keys(payload.metadata!).sort()).toEqual(['encoding', 'encryption-key-id']);
    }
    expect((await codec.decode(encrypted)).map(readValue)).toEqual(values);
  });

  it('never encrypts the same payload to the same bytes', async () => {
    const codec = new EncryptionCodec([current]);
    const [first, second] = await codec.encode([payloadOf(1), payloadOf(1)]);
    expect(Buffer.from(first!.data!).equals(Buffer.from(second!.data!))).toBe(false);
  });

  it('reads what an older key encrypted, and encrypts with the first', async () => {
    const written = await new EncryptionCodec([old]).encode([payloadOf('kept')]);
    const rotated = new EncryptionCodec([current, old]);
    expect(readValue((await rotated.decode(written))[0]!)).toBe('kept');
    const [fresh] = await rotated.encode([payloadOf('x')]);
    expect(Buffer.from(fresh!.metadata!['encryption-key-id']!).toString()).toBe('new');
  });

  it('renews what another key encrypted, and nothing else', async () => {
    const [encrypted] = await new EncryptionCodec([old]).encode([payloadOf('kept')]);
    const rotated = new EncryptionCodec([current, old]);
    expect(rotated.isOutdated(encrypted!)).toBe(true);
    const renewed = await rotated.renew(encrypted!);
    expect(rotated.isOutdated(renewed)).toBe(false);
    expect(readValue((await new EncryptionCodec([current]).decode([renewed]))[0]!)).toBe('kept');
    for (const payload of [renewed, payloadOf('clear')]) expect(await rotated.renew(payload)).toBe(payload);
    await expect(new EncryptionCodec([current]).renew(encrypted!)).rejects.toThrow('not configured');
  });

  it('rejects a key that is not there, a wrong key, and changed or cut payloads', async () => {
    const written = await new EncryptionCodec([old]).encode([payloadOf('secret')]);
    await expect(new EncryptionCodec([current]).decode(written)).rejects.toThrow('key "old", which is not configured');
    const impostor = new EncryptionCodec([{ id: 'old', key: randomBytes(32) }]);
    await expect(impostor.decode(written)).rejects.toThrow('cannot be decrypted');
    const changed = { ...written[0]!, data: Buffer.from(written[0]!.data!) };
    changed.data[20]! ^= 1;
    await expect(new EncryptionCodec([old]).decode([changed])).rejects.toThrow('cannot be decrypted');
    const cut = { ...written[0]!, data: written[0]!.data!.subarray(0, 20) };
    await expect(new EncryptionCodec([old]).decode([cut])).rejects.toThrow('cut short');
  });

  it('rejects what is not encrypted, and leaves it as it is for people to look at', async () => {
    const plain = payloadOf('clear');
    const codec = new EncryptionCodec([current]);
    await expect(codec.decode([plain])).rejects.toThrow('payload is not encrypted');
    expect(await codec.reveal([plain])).toEqual([plain]);
  });

  it('accepts what the server says of a canceled activity that no worker had started', async () => {
    const codec = new EncryptionCodec([current]);
    const [ofServer, similar] = ['ACTIVITY_ID_NOT_STARTED', 'ACTIVITY_ID_NOT_STARTED.'].map(payloadOf);
    expect(await codec.decode([ofServer!])).toEqual([ofServer]);
    await expect(codec.decode([similar!])).rejects.toThrow('payload is not encrypted');
  });

  it('requires a key', () => {
    expect(() => new EncryptionCodec([])).toThrow('at least one encryption key');
  });
});
