import { describe, expect, it } from 'vitest';
import { encode } from '../../../src/protocol/bpickle.ts';
import { anOperation } from '../../support/agents/gateway-world.ts';
import { post } from '../../support/agents/raw-agent.ts';
import { reportingAgent } from '../../support/computers/computers.ts';

const { here, rows, computer, events } = reportingAgent();
const long = (length: number) => 'x'.repeat(length);
const cut = (text: string, length: number) => `${text.slice(0, length - 1)}…`;

describe('one value beyond its limit', () => {
  it('of text that no UTF-8 has, or of a list that the agent sends along, leaves the payload', async () => {
    const payload = here.agent.payload([{ type: 'computer-info', hostname: 'a???z', 'total-memory': 9 }], {
      'client-accepted-types': ['execute-script', 'x'.repeat(201), 7],
    });
    const bytes = encode(payload);
    bytes.set([0xed, 0xa0, 0x80], bytes.indexOf('???'));
    expect((await post(here.world, bytes, here.agent.headers())).status).toBe(200);
    expect(await computer()).toMatchObject({ hostname: 'a\ufffdz', total_memory: 9 });
    expect((await rows('computer_inventory', 'client_types'))[0]).toEqual({ client_types: ['execute-script'] });
  });

  it('of a result leaves the result', async () => {
    const ids = [
      await anOperation(here.world.db, here.agent.id),
      await anOperation(here.world.db, here.agent.id),
      await anOperation(here.world.db, here.agent.id),
      await anOperation(here.world.db, here.agent.id),
    ];
    await here.agent.exchange();
    await here.agent.exchange([
      { type: 'operation-result', 'operation-id': ids[0]!, status: 6, 'result-text': 7, 'result-code': 2 ** 40 },
      {
        type: 'change-packages-result',
        'operation-id': ids[1]!,
        'result-code': 1,
        'must-install': [1, 'x'],
        'result-text': long(200_001),
      },
      { type: 'fde-recovery-key', 'operation-id': ids[2]!, successful: true, 'recovery-key': long(1025) },
      { type: 'change-packages-result', 'operation-id': ids[3]!, 'result-code': 2 ** 31, 'result-text': 'odd' },
    ]);
    const pendingEvents = await here.world.db.query(
      'select activity_id, ok, code, body from agent_inbox where kind = $1 and activity_id = any($2) order by activity_id',
      ['result', ids],
    );
    expect(pendingEvents).toEqual([
      { activity_id: ids[0], ok: true, code: null, body: null },
      { activity_id: ids[1], ok: true, code: 1, body: cut(long(200_001), 200_000) },
      {
        activity_id: ids[2],
        ok: false,
        code: null,
        body: 'The computer reported success without a key that can be kept.',
      },
      { activity_id: ids[3], ok: false, code: null, body: 'odd' },
    ]);
    const noted = (type: string) =>
      `A part of the computer's report ${type} was left out: result-code must be a whole number from -2147483647 to 2147483647`;
    expect(await events()).toEqual(
      expect.arrayContaining([noted('operation-result'), noted('change-packages-result')]),
    );
    expect((await events()).join()).not.toContain(long(101));
  });
});
