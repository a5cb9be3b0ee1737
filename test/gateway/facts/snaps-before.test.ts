import { describe, expect, it } from 'vitest';
import { inverseOf } from '../../../src/domain/engine/inverse.ts';
import { readDone } from '../../../src/persistence/activities/activity-repeats.sql.ts';
import { anOperation, useAgent } from '../../support/agents/gateway-world.ts';
import { result } from '../../support/agents/raw-agent.ts';

const UNTIL = '2027-01-01T00:00:00Z';

const given = useAgent();

/** A full report of snaps, each with the end of its hold. */
const report = (held: Record<string, string | null>) => ({
  type: 'snaps',
  snaps: {
    installed: Object.entries(held).map(([name, hold]) => ({
      name,
      id: `id-${name}`,
      version: '1',
      revision: '1',
      confinement: 'strict',
      ...(hold && { hold }),
    })),
  },
});

const snapOperation = (action: string, ...snaps: object[]) =>
  anOperation(given.world.db, given.agent.id, { messageType: `${action}-snaps`, fields: { snaps } });
const until = (name: string, time: string) => ({ name, args: { hold_level: 'general', time } });

/** What a revert of a succeeded operation would send, by type; nothing if it changed nothing. */
async function undoing(id: number): Promise<Array<[string, unknown]>> {
  await given.world.db.query(`update activity set status = 'succeeded' where id = $1`, [id]);
  const done = (await readDone(given.world.db, [id])).get(id);
  const steps = done ? inverseOf(done, new Date('2026-12-01T00:00:00Z')) : [];
  return steps.map(({ message }) => [message.type, message.fields['snaps']]);
}

const kept = (id: number) =>
  given.world.db.query('select snaps, idle from snap_operation_before where activity_id = $1', [id]);

describe('how snaps stood before an operation', () => {
  it.each([
    ['install', { hello: null, core: null }, { name: 'hello' }],
    ['hold', { hello: 'forever' }, until('hello', 'forever')],
    ['unhold', { hello: null }, { name: 'hello' }],
  ])('is known of an %s that changed nothing, whose result comes alone', async (action, before, snap) => {
    await given.agent.exchange([report(before)]);
    const id = await snapOperation(action, snap);
    await given.agent.exchange();
    await given.agent.exchange([result(id)]);
    expect(await kept(id)).toMatchObject([{ idle: true }]);
    expect(await undoing(id)).toEqual([]);
  });

  it('is known of a hold that found one of its snaps held', async () => {
    await given.agent.exchange([report({ web: 'forever', jq: null })]);
    const id = await snapOperation('hold', until('web', 'forever'), until('jq', 'forever'));
    await given.agent.exchange();
    await given.agent.exchange([result(id)]);
    expect(await kept(id)).toMatchObject([{ idle: false }]);
    expect(await undoing(id)).toEqual([['unhold-snaps', [{ name: 'jq' }]]]);
  });

  it('is known when the report comes one exchange before the result', async () => {
    await given.agent.exchange([report({ core: null, web: UNTIL })]);
    const install = await snapOperation('install', { name: 'hello' }, { name: 'core' });
    const hold = await snapOperation('hold', until('web', 'forever'));
    await given.agent.exchange();
    await given.agent.exchange([report({ core: null, hello: null, web: 'forever' })]);
    await given.agent.exchange([result(install), result(hold)]);
    expect(await undoing(install)).toEqual([['remove-snaps', [{ name: 'hello' }]]]);
    expect(await undoing(hold)).toEqual([['hold-snaps', [until('web', UNTIL)]]]);
  });

  it('is what came with the request that was responded to with the operation', async () => {
    await given.agent.exchange([report({ core: null })]);
    const id = await snapOperation('install', { name: 'hello' }, { name: 'jq' });
    await given.agent.exchange([report({ core: null, hello: null })]);
    await given.agent.exchange([report({ core: null, hello: null, jq: null }), result(id)]);
    expect(await undoing(id)).toEqual([['remove-snaps', [{ name: 'jq' }]]]);
  });

  it.each([
    ['how it was at the first time', null, [['remove-snaps', [{ name: 'hello' }]]]],
    ['what came since with the request for it', report({ core: null, hello: null }), []],
  ])('is %s, where a response was lost and the operation is handed out again', async (_, pendingEvents, steps) => {
    await given.agent.exchange([report({ core: null })]);
    const id = await snapOperation('install', { name: 'hello' });
    await given.agent.send();
    await given.agent.exchange(pendingEvents ? [pendingEvents] : []);
    await given.agent.exchange([result(id)]);
    expect(await undoing(id)).toEqual(steps);
  });

  it('stays as it was for an operation that was done, though the agent has forgotten that it got it', async () => {
    await given.agent.exchange([report({ core: null })]);
    const id = await snapOperation('install', { name: 'hello' });
    await given.agent.send();
    await given.agent.exchange([report({ core: null, hello: null }), result(id)]);
    expect(await undoing(id)).toEqual([['remove-snaps', [{ name: 'hello' }]]]);
  });

  it('is unknown of a computer that never reported its snaps', async () => {
    const id = await snapOperation('install', { name: 'hello' });
    await given.agent.exchange();
    await given.agent.exchange([result(id)]);
    expect(await kept(id)).toEqual([]);
    expect(await undoing(id)).toEqual([['remove-snaps', [{ name: 'hello' }]]]);
  });

  it('is taken from the result where an older process handed the operation out', async () => {
    await given.agent.exchange([report({ core: null })]);
    const id = await snapOperation('install', { name: 'hello' }, { name: 'core' });
    await given.agent.exchange();
    await given.world.db.query('delete from snap_operation_before where activity_id = $1', [id]);
    await given.agent.exchange([report({ core: null, hello: null }), result(id)]);
    expect(await undoing(id)).toEqual([['remove-snaps', [{ name: 'hello' }]]]);
  });
});

describe('of operations handed out together', () => {
  it('the later finds what the earlier left', async () => {
    await given.agent.exchange([report({ hello: null })]);
    const first = await snapOperation('hold', until('hello', UNTIL));
    const second = await snapOperation('hold', until('hello', 'forever'));
    await given.agent.exchange();
    await given.agent.exchange([report({ hello: UNTIL }), result(first)]);
    await given.agent.exchange([report({ hello: 'forever' }), result(second)]);
    expect(await undoing(first)).toEqual([['unhold-snaps', [{ name: 'hello' }]]]);
    expect(await undoing(second)).toEqual([['hold-snaps', [until('hello', UNTIL)]]]);
  });

  it('the later has nothing to undo that the earlier did, also when its result comes alone', async () => {
    await given.agent.exchange([report({ core: null })]);
    const [first, again] = [
      await snapOperation('install', { name: 'hello' }),
      await snapOperation('install', { name: 'hello' }),
    ];
    const hold = await snapOperation('hold', until('hello', 'forever'));
    await given.agent.exchange();
    await given.agent.exchange([report({ core: null, hello: null }), result(first)]);
    await given.agent.exchange([result(again)]);
    await given.agent.exchange([report({ core: null, hello: 'forever' }), result(hold)]);
    expect(await undoing(first)).toEqual([['remove-snaps', [{ name: 'hello' }]]]);
    expect(await undoing(again)).toEqual([]);
    expect(await undoing(hold)).toEqual([['unhold-snaps', [{ name: 'hello' }]]]);
  });

  it.each([
    ['reports as it goes', true],
    ['has nothing to report in the end', false],
  ])(
    'the later undoes what it did after the earlier, where an agent reports both at once and %s',
    async (_, reports) => {
      await given.agent.exchange([report({ core: null, vlc: null, web: null })]);
      const ids = [
        await snapOperation('remove', { name: 'vlc' }),
        await snapOperation('install', { name: 'vlc' }, { name: 'core' }),
        await snapOperation('hold', until('web', 'forever')),
        await snapOperation('unhold', { name: 'web' }),
      ];
      await given.agent.exchange();
      const [remove, install, hold, unhold] = ids.map((id) => result(id));
      await given.agent.exchange(
        reports
          ? [
              report({ core: null, web: null }),
              remove!,
              report({ core: null, vlc: null, web: null }),
              install!,
              report({ core: null, vlc: null, web: 'forever' }),
              hold!,
              report({ core: null, vlc: null, web: null }),
              unhold!,
            ]
          : [remove!, install!, hold!, unhold!],
      );
      expect(await undoing(ids[1]!)).toEqual([['remove-snaps', [{ name: 'vlc' }]]]);
      expect(await undoing(ids[2]!)).toEqual([['unhold-snaps', [{ name: 'web' }]]]);
      expect(await undoing(ids[3]!)).toEqual([['hold-snaps', [until('web', 'forever')]]]);
    },
  );

  it.each([true, false])(
    'the later undoes what it did after an earlier that failed, both reported at once: %s',
    async (atOnce) => {
      await given.agent.exchange([report({ core: null })]);
      const failed = await snapOperation('install', { name: 'hello' });
      const install = await snapOperation('install', { name: 'hello' }, { name: 'core' });
      await given.agent.exchange();
      const done = [report({ core: null, hello: null }), result(install)];
      if (atOnce) await given.agent.exchange([result(failed, { status: 5 }), ...done]);
      else {
        await given.agent.exchange([result(failed, { status: 5 })]);
        await given.agent.exchange(done);
      }
      expect(await undoing(install)).toEqual([['remove-snaps', [{ name: 'hello' }]]]);
    },
  );

  it.each([
    ['hold', 'install', { core: null, jq: null }, 'core', []],
    ['install', 'install', { core: null }, 'core', []],
    ['install', 'unhold', { core: null }, 'core', []],
    ['install', 'unhold', { core: null }, 'hello', []],
    ['install', 'hold', { core: 'forever' }, 'core', []],
    ['remove', 'install', { core: null }, 'core', [['remove-snaps', [{ name: 'core' }]]]],
  ])('after %s, %s is compared with what that cannot have changed', async (first, second, before, name, steps) => {
    await given.agent.exchange([report(before)]);
    const naming = (action: string) => snapOperation(action, action === 'hold' ? until(name, 'forever') : { name });
    const ids = [await naming(first), await naming(second)];
    await given.agent.exchange();
    await given.agent.exchange(ids.map((id) => result(id)));
    expect(await undoing(ids[1]!)).toEqual(steps);
  });

  it('one after another that was canceled on its way does not know what that leaves, whatever follows', async () => {
    await given.agent.exchange([report({ vlc: null })]);
    const remove = await snapOperation('remove', { name: 'vlc' });
    await given.agent.exchange();
    await given.world.db.query(`update activity set status = 'canceled', completion_time = now() where id = $1`, [
      remove,
    ]);
    const install = await snapOperation('install', { name: 'vlc' });
    for (let other = 0; other < 205; other += 1) await snapOperation('refresh', { name: 'vlc' });
    await given.agent.exchange();
    await given.agent.exchange([result(remove), result(install)]);
    expect(await undoing(install)).toEqual([['remove-snaps', [{ name: 'vlc' }]]]);
  });

  it('one after another that the agent is at work on does not know what that leaves', async () => {
    await given.agent.exchange([report({ jq: null })]);
    const hold = await snapOperation('hold', until('jq', 'forever'));
    await given.agent.exchange();
    await given.agent.exchange();
    const unhold = await snapOperation('unhold', { name: 'jq' });
    await given.agent.exchange();
    await given.agent.exchange([report({ jq: 'forever' }), result(hold), report({ jq: null }), result(unhold)]);
    expect(await undoing(hold)).toEqual([['unhold-snaps', [{ name: 'jq' }]]]);
    expect(await undoing(unhold)).toEqual([['hold-snaps', [until('jq', 'forever')]]]);
  });

  it('one that was requested before another and is sent after it does not know what that leaves', async () => {
    const hold = (id: number, moment: string) =>
      given.world.db.query('update agent_message set deliver_at = $2::timestamptz where activity_id = $1', [
        id,
        moment,
      ]);
    await given.agent.exchange([report({ vlc: null })]);
    const install = await snapOperation('install', { name: 'vlc' });
    await hold(install, 'infinity');
    const remove = await snapOperation('remove', { name: 'vlc' });
    await given.agent.exchange();
    await hold(install, '1970-01-01T00:00:00Z');
    await given.agent.exchange();
    await given.agent.exchange([result(remove), result(install)]);
    expect(await undoing(install)).toEqual([['remove-snaps', [{ name: 'vlc' }]]]);
  });

  it('one that has a result keeps what it found, before its batch has seen that', async () => {
    await given.agent.exchange([report({ jq: null })]);
    const install = await snapOperation('install', { name: 'hello' }, { name: 'jq' });
    const hold = await snapOperation('hold', until('jq', 'forever'));
    await given.agent.exchange();
    await given.agent.exchange([result(hold)]);
    await given.agent.exchange([report({ jq: 'forever', hello: null }), result(install)]);
    expect(await undoing(hold)).toEqual([['unhold-snaps', [{ name: 'jq' }]]]);
  });

  it('one about other snaps keeps what it found, whatever a result of another brings', async () => {
    await given.agent.exchange([report({ core: null })]);
    const first = await snapOperation('install', { name: 'hello' });
    const other = await snapOperation('install', { name: 'jq' });
    await given.agent.exchange();
    await given.agent.exchange([report({ core: null, hello: null, jq: null }), result(first)]);
    await given.agent.exchange([result(other)]);
    expect(await undoing(other)).toEqual([['remove-snaps', [{ name: 'jq' }]]]);
  });
});
