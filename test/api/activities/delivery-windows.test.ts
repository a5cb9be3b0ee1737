import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { insertPackage, reportKernels, reportPackages } from '../../support/computers/computers.ts';
import { bodyFields, OPERATIONS } from '../../support/http/sample-requests.ts';

const WINDOW = 'deliver_delay_window';
const OTHER = 'deliver_after_window';

let world: FleetWorld;
/** What each acting call needs beside its delivery, by `operationId`. */
let requests: Record<string, { path: string; body: object }>;

beforeAll(async () => {
  world = await createFleetWorld();
  const computer = world.ids['web']!;
  const kernels = await reportKernels(world.db, computer);
  const offered = await insertPackage(world.db, 'offered', '1');
  await reportPackages(world.db, computer, {
    installed: [kernels.now],
    available: [kernels.next, kernels.old, offered],
  });
  const script = await world.app.call('POST', '/scripts', {
    token: world.tokens.admin,
    body: { title: 'Sample', code: '#!/bin/sh\ntrue\n' },
  });
  requests = {
    actOnSnaps: { path: '/snaps', body: { action: 'install', computer_ids: [computer], snaps: [{ name: 'a' }] } },
    actOnPackages: { path: '/packages', body: { action: 'install', computer_ids: [computer], package_ids: [offered] } },
    upgradeKernel: { path: `/computers/${computer}/kernel/upgrade`, body: { kernel_package_id: kernels.next } },
    downgradeKernel: { path: `/computers/${computer}/kernel/downgrade`, body: { kernel_package_id: kernels.old } },
    restartComputer: { path: `/computers/${computer}/restart`, body: {} },
    shutDownComputer: { path: `/computers/${computer}/shutdown`, body: {} },
    executeScript: { path: `/scripts/${script.body.id}:execute`, body: { query: `id:${computer}` } },
  };
});
afterAll(() => world?.close());

const ACTING = OPERATIONS.filter((operation) => bodyFields(operation).includes('deliver_after')).map(({ id }) => id);

const act = (id: string, fields: object, query = '') =>
  world.app.call('POST', `${requests[id]!.path}${query}`, {
    token: world.tokens.admin,
    body: { ...requests[id]!.body, ...fields },
  });

describe('the window of a delivery', () => {
  it('is on every acting call that can wait', () => {
    expect(ACTING.sort()).toEqual(Object.keys(requests).sort());
  });

  it.each(ACTING)('%s takes it under both names', async (id) => {
    for (const fields of [
      { [WINDOW]: 30 },
      { [OTHER]: 30 },
      { [WINDOW]: 30, [OTHER]: 30 },
      { [WINDOW]: null, [OTHER]: 30 },
    ]) {
      const { status, body } = await act(id, fields);
      expect({ status, window: body.deliver_delay_window }, JSON.stringify(fields)).toEqual({
        status: 200,
        window: 30,
      });
    }
    expect((await act(id, { [WINDOW]: 0 })).body.deliver_delay_window).toBe(0);
  });

  it.each(ACTING)('%s rejects two different ones, and does nothing', async (id) => {
    const [before] = await world.db.query('select count(*) from activity');
    const { body } = await act(id, { [WINDOW]: 0, [OTHER]: 30 });
    expect(body).toMatchObject({ error: 'InvalidParameterCombination', code: 400 });
    expect(body.details).toEqual([{ path: `body.${OTHER}`, message: `must equal ${WINDOW} when both are given` }]);
    expect(await world.db.query('select count(*) from activity')).toEqual([before]);
  });

  it('may stand in the query of kernel changes, where the body wins', async () => {
    expect((await act('upgradeKernel', {}, `?${OTHER}=20`)).body.deliver_delay_window).toBe(20);
    expect((await act('upgradeKernel', {}, `?${WINDOW}=20`)).body.deliver_delay_window).toBe(20);
    expect((await act('upgradeKernel', { [WINDOW]: 5 }, `?${OTHER}=20`)).body.deliver_delay_window).toBe(5);
    const rejected = await act('upgradeKernel', {}, `?${OTHER}=20&${WINDOW}=21`);
    expect(rejected.body).toMatchObject({
      error: 'InvalidParameterCombination',
      details: [{ path: `query.${OTHER}` }],
    });
  });
});
