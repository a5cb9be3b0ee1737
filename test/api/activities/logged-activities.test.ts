import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/process/logger.ts';
import { activityGroups } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { usgReportRequests } from '../../support/compliance/usg.ts';

let directory: string;
let world: FleetWorld;
const { act, cancel, report } = activityGroups(() => world);
const { call, create, run, requestReport, made } = usgReportRequests(() => world);

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'flotilla-logged-'));
  world = await createFleetWorld({
    logger: createLogger({ level: 'info', role: 'test', file: join(directory, 'log') }),
  });
});

afterAll(async () => {
  await world?.close();
  rmSync(directory, { recursive: true });
});

/** The last line of a completed request. */
function line(): Record<string, unknown> {
  const lines = readFileSync(join(directory, 'log'), 'utf8').trimEnd().split('\n');
  return lines
    .map((text) => JSON.parse(text) as Record<string, unknown>)
    .findLast(({ msg }) => msg === 'request completed')!;
}

describe('the log line of a request', () => {
  it('names the created activity', async () => {
    const activityId = await act(['web']);
    expect(line()).toMatchObject({ operation: 'actOnSnaps', activityId });
    const profile = await create();
    const { body } = await call('POST', `/usg-profiles/${profile}:execute`);
    expect(body.id).toEqual(expect.any(Number));
    expect(line()).toMatchObject({ operation: 'executeUsgProfile', activityId: body.id });
  });

  it('names the activity that creates a report, and none for an existing report', async () => {
    const profile = await create();
    await run(profile, '2026-05-04T02:00:00Z');
    const { body } = await requestReport(profile, 'start_date=2026-05-04&detailed=true');
    expect(line()).toMatchObject({ operation: 'getUsgProfileReport', activityId: body.id });
    await made(profile, 'start_date=2026-05-04&detailed=true');
    expect((await requestReport(profile, 'start_date=2026-05-04&detailed=true')).body.id).toBeNull();
    expect(line()).toMatchObject({ operation: 'getUsgProfileReport', status: 200 });
    expect(line()).not.toHaveProperty('activityId');
  });

  it('names the activities of a list', async () => {
    const [first, second] = [await act(['web']), await act(['web', 'db'])];
    await cancel([second, first]);
    expect(line()).toMatchObject({ operation: 'cancelActivities', activityIds: [second, first] });
    expect(line()).not.toHaveProperty('activityCount');
    await world.processEvents();
    await report(first, true);
    const body = { activity_ids: [first] };
    const again = await world.app.call('POST', '/activities/reapply', { token: world.tokens.admin, body });
    expect(again.body).toHaveLength(1);
    expect(line()).toMatchObject({ operation: 'reapplyActivities', activityIds: again.body });
  });

  it('names the first of many, and their number', async () => {
    const made: number[] = [];
    for (let turn = 0; turn < 51; turn++) made.push(await act(['web']));
    await cancel(made);
    expect(line()).toMatchObject({ activityIds: made.slice(0, 50), activityCount: 51 });
  });

  it('does not mistake ids of computers and other objects for activities', async () => {
    const { app, tokens, ids } = world;
    const body = { computer_ids: [ids['pending']] };
    const accepted = await app.call('POST', '/pending-computers:accept', { token: tokens.admin, body });
    expect(accepted).toMatchObject({ status: 200, body: [ids['pending']] });
    expect(line()).not.toHaveProperty('activityIds');
    await create();
    expect(line()).toMatchObject({ operation: 'createUsgProfile', status: 201 });
    expect(line()).not.toHaveProperty('activityId');
    await cancel([]);
    expect(line()).not.toHaveProperty('activityIds');
  });
});
