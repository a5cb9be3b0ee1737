import { describe, expect, it } from 'vitest';
import {
  DELIVERED,
  listenForWork,
  RESULTS_CHANNEL,
  SMALL_BATCH,
} from '../../../src/persistence/activities/outbox.sql.ts';
import { aBatch, anAccount, anOperation, inbox, messageStates, useAgent } from '../../support/agents/gateway-world.ts';
import { post, RawAgent, result } from '../../support/agents/raw-agent.ts';
import { announcePackages } from '../../support/computers/computers.ts';
import { untilBlocked } from '../../support/database/database.ts';

const given = useAgent();

describe('handing out operations', () => {
  it('keeps their order and gives each its message', async () => {
    const fields = { snaps: [{ name: 'jq', args: { classic: true } }], 'time-limit': null, n: 3 };
    const ids = [
      await anOperation(given.world.db, given.agent.id),
      await anOperation(given.world.db, given.agent.id, { fields }),
    ];
    const response = await given.agent.exchange();
    expect(response.messages.map((m) => m['operation-id'])).toEqual(ids);
    expect(response.messages[1]).toEqual({ type: 'install-snaps', 'operation-id': ids[1], ...fields });
    expect((await given.agent.exchange()).messages).toEqual([]);
    expect(await messageStates(given.world.db, ids)).toEqual(['acked', 'acked']);
  });

  it('waits for the moment of delivery and not beyond the last one', async () => {
    const now = given.world.clock.now().getTime();
    const later = await anOperation(given.world.db, given.agent.id, { deliverAt: new Date(now + 60_000) });
    const expired = await anOperation(given.world.db, given.agent.id, { deliverBefore: new Date(now - 1) });
    expect((await given.agent.exchange()).messages).toEqual([]);
    given.world.clock.advance(60_001);
    expect((await given.agent.exchange()).messages.map((m) => m['operation-id'])).toEqual([later]);
    expect(await messageStates(given.world.db, [expired])).toEqual(['queued']);
  });

  it('hands out at most 100 at once', async () => {
    const ids: number[] = [];
    for (let i = 0; i < 130; i++) ids.push(await anOperation(given.world.db, given.agent.id));
    const first = await given.agent.exchange();
    expect(first.messages.map((m) => m['operation-id'])).toEqual(ids.slice(0, 100));
    const second = await given.agent.exchange();
    expect(second.messages.map((m) => m['operation-id'])).toEqual(ids.slice(100));
  });

  it('sends no more than 100 beside other messages, and nothing again that was completed', async () => {
    const ids: number[] = [];
    for (let i = 0; i < 100; i++) ids.push(await anOperation(given.world.db, given.agent.id));
    expect((await given.agent.send()).messages).toHaveLength(100);
    const request = { type: 'unknown-package-hashes', 'request-id': 1, hashes: [Buffer.alloc(20)] };
    const again = await given.agent.exchange([request]);
    expect(again.messages.map((m) => m['operation-id'])).toEqual(ids);
    expect((await given.agent.exchange()).types).toEqual(['package-ids']);
    expect((await given.agent.exchange()).messages).toEqual([]);
    expect(new Set(await messageStates(given.world.db, ids))).toEqual(new Set(['acked']));
  });

  it('keeps no more responses than one exchange can take, however many are requested', async () => {
    const requests = Array.from({ length: 250 }, (_, id) => ({
      type: 'unknown-package-hashes',
      'request-id': id + 1,
      hashes: [],
    }));
    for (let i = 0; i < 3; i++) {
      const { nextExpected, messages } = await given.agent.send(requests);
      expect(messages).toHaveLength(100);
      given.agent.sequence = nextExpected!;
    }
    const [kept] = await given.world.db.query<{ size: number }>(
      'select jsonb_array_length(controls) as size from agent where computer_id = $1',
      [given.agent.id],
    );
    expect(kept!.size).toBe(100);
  });

  it('starts once the computer knows what it may report', async () => {
    const newcomer = await RawAgent.enrol(given.world, given.account);
    const id = await anOperation(given.world.db, newcomer.id);
    expect((await newcomer.exchange()).messages).toEqual([]);
    expect((await newcomer.exchange()).messages.map((m) => m['operation-id'])).toEqual([id]);
  });

  it('never hands out what was withdrawn, also in the last moment', async () => {
    const ids = [await anOperation(given.world.db, given.agent.id), await anOperation(given.world.db, given.agent.id)];
    const client = await given.world.db.connect();
    try {
      await client.query('begin');
      await client.query(`update agent_message set state = 'withdrawn' where activity_id = $1`, [ids[0]]);
      const response = given.agent.exchange();
      await untilBlocked(given.world.db);
      await client.query('commit');
      expect((await response).messages.map((m) => m['operation-id'])).toEqual([ids[1]]);
    } finally {
      client.release();
    }
    await given.agent.exchange();
    expect(await messageStates(given.world.db, ids)).toEqual(['withdrawn', 'acked']);
    expect((await inbox(given.world.db)).map((row) => row.activity_id)).toEqual([ids[1]]);
  });

  it('holds nothing back from a disabled account but operations', async () => {
    await anOperation(given.world.db, given.agent.id);
    await given.world.db.query('update account set disabled = true where id = $1', [given.account.id]);
    const response = await given.agent.exchange();
    await given.world.db.query('update account set disabled = false where id = $1', [given.account.id]);
    expect(response).toMatchObject({ status: 200, messages: [] });
  });
});

describe('the message backlog bound', () => {
  it('lets the oldest go when one is acknowledged', async () => {
    const bound = await anAccount(given.world.db, { maxBacklog: 1 });
    const other = await RawAgent.enrol(given.world, bound);
    await other.exchange();
    const first = await anOperation(given.world.db, other.id);
    const waiting = [await anOperation(given.world.db, other.id), await anOperation(given.world.db, other.id)];
    expect((await other.exchange()).messages.map((m) => m['operation-id'])).toEqual([first]);
    expect(await messageStates(given.world.db, waiting)).toEqual(['queued', 'queued']);
    expect((await other.exchange()).messages.map((m) => m['operation-id'])).toEqual([waiting[0]]);
    expect(await messageStates(given.world.db, [first, ...waiting])).toEqual(['acked', 'sent', 'queued']);
  });

  it('holds all at 0 and lets all go without a bound', async () => {
    const bound = await anAccount(given.world.db, { maxBacklog: 0 });
    const other = await RawAgent.enrol(given.world, bound);
    // As a previous build left them, beside the present state.
    const held = [
      await anOperation(given.world.db, other.id, { state: 'held' }),
      await anOperation(given.world.db, other.id),
    ];
    for (let i = 0; i < 2; i++) expect((await other.exchange()).messages).toEqual([]);
    await given.world.db.query('update account set max_message_backlog = null where id = $1', [bound.id]);
    expect((await other.exchange()).messages.map((m) => m['operation-id'])).toEqual(held);
  });
});

describe('results', () => {
  it('are passed on with code and text', async () => {
    const [script, packages] = [
      await anOperation(given.world.db, given.agent.id),
      await anOperation(given.world.db, given.agent.id, { messageType: 'change-packages' }),
    ];
    await given.agent.exchange();
    // The account may name these two, but not 1006.
    for (const id of [1005, 1007]) await announcePackages(given.world.db, given.account.id, id);
    await given.agent.exchange([
      result(script, { status: 5, 'result-code': 103, 'result-text': 'out\0put' }),
      {
        type: 'change-packages-result',
        'operation-id': packages,
        'result-code': 101,
        'must-install': [1006, 1005],
        'must-remove': [1007],
      },
    ]);
    expect((await inbox(given.world.db)).filter((row) => row.kind === 'result')).toEqual([
      { activity_id: script, kind: 'result', ok: false, code: 103, body: 'output' },
      { activity_id: packages, kind: 'result', ok: false, code: 101, body: null },
    ]);
    expect(await given.world.db.query('select * from package_change_result')).toEqual([
      { activity_id: packages, computer_id: given.agent.id, must_install: [1005], must_remove: [1007] },
    ]);
  });

  it('count once: the first of several in one payload', async () => {
    const id = await anOperation(given.world.db, given.agent.id);
    await given.agent.exchange();
    await given.agent.exchange([result(id), result(id, { status: 5 })]);
    expect((await inbox(given.world.db)).filter((row) => row.kind === 'result')).toMatchObject([{ ok: true }]);
  });

  it('notify dispatchers when a small batch waits for them', async () => {
    const { db } = given.world;
    const [small, large] = [await anOperation(db, given.agent.id), await anOperation(db, given.agent.id)];
    const batch = await aBatch(db, small, SMALL_BATCH);
    await aBatch(db, large, SMALL_BATCH + 1);
    const connection = await db.connect();
    const notified: string[][] = [];
    connection.on('notification', ({ channel, payload }) => notified.push([channel, payload!]));
    await listenForWork(connection);
    await given.agent.exchange();
    await connection.query('select 1');
    expect(notified).toEqual([[RESULTS_CHANNEL, DELIVERED]]);
    await given.agent.exchange([result(large)]);
    await connection.query('select 1');
    expect(notified).toHaveLength(1);
    await given.agent.exchange([result(small)]);
    await connection.query('select 1');
    expect(notified.slice(1)).toEqual([[RESULTS_CHANNEL, String(batch)]]);
    connection.release(true);
  });

  it('AGENT-reorder: of finished and unknown operations are consumed and ignored', async () => {
    const id = await anOperation(given.world.db, given.agent.id);
    await given.agent.exchange();
    await given.world.db.query(`update activity set status = 'succeeded' where id = $1`, [id]);
    const response = await given.agent.exchange([
      result(id, { status: 5 }),
      result(2_000_000_000),
      { type: 'operation-result', 'operation-id': 2n ** 63n, status: 6 },
      { type: 'operation-result', 'operation-id': id, status: 7 },
    ]);
    expect(response.nextExpected).toBe(4);
    expect((await inbox(given.world.db)).filter((row) => row.kind === 'result')).toEqual([]);
  });

  it('AGENT-reorder: of an operation that was never handed out keep it from being handed out', async () => {
    const id = await anOperation(given.world.db, given.agent.id);
    const response = await given.agent.exchange([result(id)]);
    expect(response.messages).toEqual([]);
    expect(await messageStates(given.world.db, [id])).toEqual(['acked']);
    expect(await inbox(given.world.db)).toMatchObject([{ activity_id: id, kind: 'result', ok: true }]);
  });

  it("AGENT-forge: of another computer's operation are rejected and counted", async () => {
    const victim = await RawAgent.enrol(given.world, given.account);
    await victim.exchange();
    const id = await anOperation(given.world.db, victim.id, {
      messageType: 'fde-recovery-key',
      fields: { action: 'generate' },
    });
    await victim.exchange();
    await given.world.db.query('delete from agent_inbox');
    await given.agent.exchange([
      result(id),
      { type: 'fde-recovery-key', 'operation-id': id, successful: true, 'recovery-key': 'forged' },
      { type: 'usg-audit', 'operation-id': id, 'run-id': 'r', report: Buffer.from('<x/>') },
    ]);
    expect(await inbox(given.world.db)).toEqual([]);
    expect(await given.world.db.query('select * from computer_recovery_key')).toEqual([]);
    expect(await given.world.db.query('select * from usg_audit_report')).toEqual([]);
    expect(
      await given.world.db.query('select type, reason, seen from agent_rejected_message where computer_id = $1', [
        given.agent.id,
      ]),
    ).toEqual([{ type: 'operation-result', reason: 'an operation of another computer', seen: 1 }]);
    expect(await messageStates(given.world.db, [id])).toEqual(['sent']);
  });
});

describe('audit reports', () => {
  it('are kept beside their operation, also when it has ended', async () => {
    const id = await anOperation(given.world.db, given.agent.id, {
      messageType: 'usg',
      fields: { action: 'audit', 'run-id': 'r-1' },
    });
    await given.agent.exchange();
    await given.agent.exchange([result(id)]);
    await given.world.db.query(`update activity set status = 'succeeded' where id = $1`, [id]);
    const report = Buffer.from('<Benchmark/>');
    await given.agent.exchange([{ type: 'usg-audit', 'operation-id': id, 'run-id': 'r-1', report }]);
    const [row] = await given.world.db.query('select run_id, report from usg_audit_report where activity_id = $1', [
      id,
    ]);
    expect(row).toEqual({ run_id: 'r-1', report });
  });
});

describe('AGENT-flood', () => {
  it('returns 429 to a computer that exchanges without end, and not to others', async () => {
    const other = await RawAgent.enrol(given.world, given.account);
    const statuses = new Set<number>();
    const messages = Array.from({ length: 100 }, () => ({ type: 'none' }));
    for (let i = 0; i < 80; i++) statuses.add((await given.agent.send(messages, { sequence: 0 })).status);
    expect([...statuses].sort()).toEqual([200, 429]);
    expect((await other.exchange()).status).toBe(200);
    given.world.clock.advance(5000);
    expect((await post(given.world, given.agent.payload(), { 'X-Computer-ID': given.agent.secureId })).status).toBe(
      200,
    );
  });
});
