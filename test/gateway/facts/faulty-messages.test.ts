import { describe, expect, it } from 'vitest';
import type { BValue } from '../../../src/protocol/bpickle.ts';
import { anAccount, anOperation } from '../../support/agents/gateway-world.ts';
import { RawAgent } from '../../support/agents/raw-agent.ts';
import { aProcess, reportingAgent } from '../../support/computers/computers.ts';

const { here, rows, events } = reportingAgent();
const long = (length: number) => 'x'.repeat(length);

describe('a message that could not be used at all', () => {
  const BAD: Array<[string, BValue, string]> = [
    ['computer-info', { type: 'computer-info', hostname: 7 }, 'computer'],
    ['active-process-info', { type: 'active-process-info', 'add-processes': 'x' }, 'process'],
    ['users', { type: 'users', 'create-users': [{}] }, 'users'],
    ['network-device', { type: 'network-device', devices: [{}] }, 'network'],
    ['processor-info', { type: 'processor-info', processors: [{}] }, 'cpu'],
    ['snaps', { type: 'snaps', snaps: null }, 'snaps'],
    ['cloud-init', { type: 'cloud-init', 'cloud-init': 'Traceback' }, 'cloud-init'],
    ['livepatch', { type: 'livepatch', livepatch: `${'['.repeat(100)}${']'.repeat(100)}` }, 'livepatch'],
    ['ubuntu-pro-info', { type: 'ubuntu-pro-info' }, 'ubuntu-pro'],
    ['packages', { type: 'packages', installed: ['x'] }, 'package'],
  ];

  it.each(BAD)('%s is requested again in its scope', async (type, message, scope) => {
    const { messages } = await here.agent.exchange([message]);
    expect(messages).toEqual([{ type: 'resynchronize', 'operation-id': expect.any(Number), scopes: [scope] }]);
    const reported = (await events()).at(-1);
    expect(reported).toMatch(
      new RegExp(`^The computer's report ${type} could not be used: .+; it is requested again, at most once an hour$`),
    );
  });

  it('is requested at most once an hour, and what came apart meanwhile with it', async () => {
    const [, bad] = BAD[2]!;
    expect((await here.agent.exchange([bad])).types).toEqual(['resynchronize']);
    expect((await here.agent.exchange([bad, BAD[3]![1]])).types).toEqual([]);
    here.world.clock.advance(3_599_000);
    expect((await here.agent.exchange([])).types).toEqual([]);
    here.world.clock.advance(1000);
    const { messages } = await here.agent.exchange([]);
    expect(messages).toMatchObject([{ type: 'resynchronize', scopes: ['network', 'users'] }]);
    here.world.clock.advance(3_600_000);
    expect((await here.agent.exchange([])).types).toEqual([]);
  });

  it('replaces what is known when it is reported again', async () => {
    await here.agent.exchange([
      { type: 'users', 'create-users': [{ username: 'gone', uid: 1 }] },
      { type: 'active-process-info', 'add-processes': [aProcess(1)] },
    ]);
    const { messages } = await here.agent.exchange([{ type: 'users', 'create-users': 'x' }]);
    const id = messages[0]!['operation-id']!;
    await here.agent.exchange([
      { type: 'resynchronize', 'operation-id': id },
      { type: 'users', 'create-users': [{ username: 'here', uid: 2 }] },
    ]);
    expect(await rows('computer_user', 'username')).toEqual([{ username: 'here' }]);
    expect(await rows('computer_process', 'pid')).toEqual([{ pid: 1 }]);
  });

  it('is never requested beside an operation', async () => {
    const id = await anOperation(here.world.db, here.agent.id);
    expect((await here.agent.exchange([])).types).toEqual(['install-snaps']);
    here.agent.next -= 1;
    expect((await here.agent.exchange([{ type: 'users', 'create-users': 'x' }])).types).toEqual(['install-snaps']);
    await anOperation(here.world.db, here.agent.id);
    const requested = await here.agent.exchange([]);
    expect(requested.types).toEqual(['resynchronize']);
    expect((await here.agent.exchange([])).types).toEqual(['install-snaps']);
    expect(id).toBeGreaterThan(0);
  });

  it('that the database rejects is requested again too', async () => {
    await here.world.db.query(`alter table computer_user add constraint rejected check (username <> 'rejected')`);
    const users = (username: string) => ({ type: 'users', 'create-users': [{ username, uid: 1 }] });
    await here.agent.exchange([users('fine'), users('rejected')]);
    expect(await rows('computer_user', 'username')).toEqual([{ username: 'fine' }]);
    expect((await here.agent.exchange([])).messages).toMatchObject([{ type: 'resynchronize', scopes: ['users'] }]);
    expect(await events()).toEqual([expect.stringContaining('report users could not be used: could not be stored')]);
  });

  it('of a computer that waits for acceptance record no event', async () => {
    const waiting = await anAccount(here.world.db, { autoRegister: false });
    here.agent = await RawAgent.enrol(here.world, waiting);
    const { types } = await here.agent.exchange([BAD[0]![1]]);
    expect(types).not.toContain('resynchronize');
    expect(await events()).toEqual([]);
  });
});

describe('events and metrics', () => {
  it('record the same fault once a day, and never more than twenty faults', async () => {
    const titled = (pid: number) => ({
      type: 'active-process-info',
      'add-processes': [aProcess(pid, { name: long(5000) })],
    });
    await here.agent.exchange([titled(1), titled(2)]);
    await here.agent.exchange([titled(3)]);
    expect(await events()).toEqual([expect.stringContaining('(process 1, process 2)')]);
    here.world.clock.advance(86_400_001);
    await here.agent.exchange([titled(4)]);
    expect(await events()).toHaveLength(2);
    for (let i = 0; i < 30; i++) {
      await here.agent.exchange([
        { type: 'computer-info', hostname: 'h', annotations: { [`${i}${long(2000)}`]: 'x', a: 'b' } },
      ]);
    }
    expect(await events()).toHaveLength(21);
    expect(await rows('computer_notice', 'count(*)::int as count', '1')).toEqual([{ count: 20 }]);
  });

  it('name no content, and keep each line short', async () => {
    const annotations = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`${i}\u001b[31m\n${long(3000)}`, 'secret']),
    );
    await here.agent.exchange([{ type: 'computer-info', hostname: 'h', annotations }]);
    const [line] = await events();
    expect(line).toMatch(/and 497 more\)$/);
    expect(line!.length).toBeLessThan(500);
    for (const part of ['secret', '\n', '\u001b']) expect(line).not.toContain(part);
  });

  it('count by type and outcome', async () => {
    const value = async (labels: string) =>
      Number(
        new RegExp(`^flotilla_gateway_faulty_values_total\\{${labels}\\} (\\d+)$`, 'm').exec(
          await here.world.metrics(),
        )?.[1] ?? 0,
      );
    const labels = ['shortened', 'skipped', 'refused'].map((outcome) => `type="users",outcome="${outcome}"`);
    const before = await Promise.all(labels.map(value));
    await here.agent.exchange([
      { type: 'users', 'create-users': [{ username: 'a', uid: 1, name: long(5000) }, {}, {}] },
      { type: 'users', 'create-users': [{}] },
      { type: 'none of ours', x: 1 },
      7,
    ]);
    const after = await Promise.all(labels.map(value));
    expect(after.map((count, i) => count - before[i]!)).toEqual([1, 2, 1]);
    expect(await value('type="other",outcome="refused"')).toBeGreaterThan(0);
  });
});
