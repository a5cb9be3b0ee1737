import { describe, expect, it } from 'vitest';
import { decryptSecret, recoveryKeyContext } from '../../../src/services/common/secret-box.ts';
import { anOperation, inbox, useAgent } from '../../support/agents/gateway-world.ts';
import { result } from '../../support/agents/raw-agent.ts';

const given = useAgent();

describe('recovery keys', () => {
  it('are kept encrypted and appear nowhere else', async () => {
    const key = '12345-67890-12345-67890-12345-67890-12345-67890';
    const id = await anOperation(given.world.db, given.agent.id, {
      messageType: 'fde-recovery-key',
      fields: { action: 'generate' },
    });
    await given.agent.exchange();
    await given.agent.exchange([
      {
        type: 'fde-recovery-key',
        'operation-id': id,
        successful: true,
        'recovery-key': key,
        'result-text': `made ${key}`,
      },
    ]);
    expect((await inbox(given.world.db)).at(-1)).toMatchObject({ ok: true, body: 'made [recovery key]' });
    const [row] = await given.world.db.query<{ key_id: string; sealed: Buffer; activity_id: number }>(
      'select * from computer_recovery_key where computer_id = $1',
      [given.agent.id],
    );
    expect(row!.activity_id).toBe(id);
    expect(row!.sealed.includes(key)).toBe(false);
    const secret = { keyId: row!.key_id, ciphertext: row!.sealed };
    expect(decryptSecret(given.world.config.encryptionKeys, secret, recoveryKeyContext(given.agent.id))).toBe(key);
    expect(() =>
      decryptSecret(given.world.config.encryptionKeys, secret, recoveryKeyContext(given.agent.id + 1)),
    ).toThrow();
    const tables = await given.world.db.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public'`,
    );
    for (const { name } of tables) {
      const [found] = await given.world.db.query(`select from "${name}" t where t::text like $1 limit 1`, [`%${key}%`]);
      expect(found, name).toBeUndefined();
    }
  });

  it('FDE-race: an older generation never replaces the key of a newer one, nor a repeated report the first', async () => {
    const options = { messageType: 'fde-recovery-key', fields: { action: 'generate' } };
    const old = await anOperation(given.world.db, given.agent.id, options);
    const newer = await anOperation(given.world.db, given.agent.id, options);
    await given.agent.exchange();
    const made = (id: number, key: string) => ({
      type: 'fde-recovery-key',
      'operation-id': id,
      successful: true,
      'recovery-key': key,
      'result-text': 'instead of 11111 22222 33333 44444 55555 66666 77777 88888',
    });
    await given.agent.exchange([made(newer, 'the newer one')]);
    await given.agent.exchange([made(old, 'the older one')]);
    await given.agent.exchange([made(newer, 'another')]);
    const [row] = await given.world.db.query<{ key_id: string; sealed: Buffer; activity_id: number }>(
      'select * from computer_recovery_key where computer_id = $1',
      [given.agent.id],
    );
    expect(row!.activity_id).toBe(newer);
    const secret = { keyId: row!.key_id, ciphertext: row!.sealed };
    expect(decryptSecret(given.world.config.encryptionKeys, secret, recoveryKeyContext(given.agent.id))).toBe(
      'the newer one',
    );
    const texts = (await inbox(given.world.db)).filter((one) => one.kind === 'result').map(({ body }) => body);
    expect(new Set(texts)).toEqual(new Set(['instead of [recovery key]']));
  });

  describe('that come too late', () => {
    const generate = { messageType: 'fde-recovery-key', fields: { action: 'generate' } };
    const made = (id: number, key: string) => ({
      type: 'fde-recovery-key',
      'operation-id': id,
      successful: true,
      'recovery-key': key,
    });
    const failed = (id: number) => ({ type: 'fde-recovery-key', 'operation-id': id, successful: false });
    const first = async () => {
      const good = await anOperation(given.world.db, given.agent.id, generate);
      await given.agent.exchange();
      await given.agent.exchange([made(good, 'real')]);
      await processBatches();
    };
    /** What a batch does with the first result of each operation. */
    const processBatches = () =>
      given.world.db.query(
        `with pending as (delete from agent_inbox returning *)
         update activity a set status = case when r.ok then 'succeeded' else 'failed' end
         from (select distinct on (activity_id) * from pending where kind = 'result' order by activity_id, id) r
         where a.id = r.activity_id`,
      );
    const stored = async () => {
      const [row] = await given.world.db.query<{ key_id: string; sealed: Buffer }>(
        'select key_id, sealed from computer_recovery_key where computer_id = $1',
        [given.agent.id],
      );
      if (!row) return null;
      const secret = { keyId: row.key_id, ciphertext: row.sealed };
      return decryptSecret(given.world.config.encryptionKeys, secret, recoveryKeyContext(given.agent.id));
    };

    it.each([
      ['failed', failed],
      ['succeeded without a key', (id: number) => result(id)],
    ])('AGENT-reorder: change nothing after an operation %s, whether or not its batch has seen it', async (_, end) => {
      await first();
      for (const process of [processBatches, async () => undefined]) {
        const id = await anOperation(given.world.db, given.agent.id, generate);
        await given.agent.exchange();
        await given.agent.exchange([end(id)]);
        await process();
        await given.agent.exchange([made(id, 'forged')]);
        expect(await stored()).toBe('real');
      }
    });

    it.each([
      ['failed', failed],
      ['succeeded without a key', (id: number) => result(id)],
    ])('change nothing in the payload in which their operation %s first', async (_, end) => {
      await first();
      const id = await anOperation(given.world.db, given.agent.id, generate);
      await given.agent.exchange();
      await given.agent.exchange([end(id), made(id, 'forged')]);
      expect(await stored()).toBe('real');
    });

    it('count after a cancel, as their result does, and when another follows in the payload', async () => {
      await first();
      const id = await anOperation(given.world.db, given.agent.id, generate);
      await given.agent.exchange();
      await given.world.db.query(`update activity set status = 'canceled' where id = $1`, [id]);
      await given.agent.exchange([made(id, 'newer'), failed(id)]);
      expect(await stored()).toBe('newer');
    });

    it('are not lost with the response', async () => {
      const id = await anOperation(given.world.db, given.agent.id, generate);
      await given.agent.exchange();
      await given.agent.send([made(id, 'real')]);
      await given.agent.exchange([made(id, 'real'), result(id, { status: 5 })]);
      expect(await stored()).toBe('real');
    });

    it('are decided by the payload also where a message of it cannot be stored', async () => {
      await first();
      const ids = [
        await anOperation(given.world.db, given.agent.id, generate),
        await anOperation(given.world.db, given.agent.id, generate),
      ];
      await given.agent.exchange();
      await given.world.db.query(`alter table computer_hardware add constraint rejected check (data <> 'rejected')`);
      const rejected = { type: 'hardware-info', data: 'rejected' };
      await given.agent.exchange([made(ids[0]!, 'newer'), result(ids[1]!), made(ids[1]!, 'forged'), rejected]);
      await given.world.db.query('alter table computer_hardware drop constraint rejected');
      expect(await stored()).toBe('newer');
    });
  });

  it('that could not be made fail their operation', async () => {
    const ids = [
      await anOperation(given.world.db, given.agent.id, { messageType: 'fde-recovery-key' }),
      await anOperation(given.world.db, given.agent.id, { messageType: 'fde-recovery-key' }),
    ];
    await given.agent.exchange();
    await given.agent.exchange([
      { type: 'fde-recovery-key', 'operation-id': ids[0]!, successful: false, 'result-text': 'no TPM' },
      { type: 'fde-recovery-key', 'operation-id': ids[1]!, successful: true },
    ]);
    expect((await inbox(given.world.db)).filter((row) => row.kind === 'result')).toMatchObject([
      { ok: false, body: 'no TPM' },
      { ok: false },
    ]);
  });
});
