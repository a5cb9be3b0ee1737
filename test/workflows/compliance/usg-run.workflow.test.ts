import { describe, expect } from 'vitest';
import { ingestReports } from '../../../src/services/compliance/audits/ingest.ts';
import { readAuditReport } from '../../../src/services/compliance/audits/read-report.ts';
import { childrenOf } from '../../support/activities/activity-rows.ts';
import { auditReport, createUsgWorld } from '../../support/compliance/usg.ts';
import { itOnRows as it } from '../../support/temporal/skipped-rows.ts';
import { failureOf, statusOf, until } from '../../support/temporal/workflow-environment.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DELAY_HOURS = 6;
const WINDOW_MINUTES = 90;

/** Places in the chain of each computer. */
const [FIX, RESTART, AUDIT] = [0, 1, 2] as const;

describe('a run that fixes, restarts and audits', () => {
  it('restarts each computer hours after its fix, spread over the window, and audits after the restart', async ({
    server,
    db,
    clock,
    start,
    agents,
  }) => {
    const world = await createUsgWorld(db, clock, 4);
    const profile = await world.create({
      mode: 'fix-restart-audit',
      restartDelayHours: DELAY_HOURS,
      restartWindowMinutes: WINDOW_MINUTES,
      startDate: clock.now().toISOString(),
    });
    const group = (await world.runs(profile))[0]!.activity_id!;
    const [broken, ...sound] = world.computers as [number, number, number, number];
    const chainOf = async (computer: number) =>
      (await childrenOf(db, group)).filter(({ computer_id }) => computer_id === computer);
    const statusesOf = async (computer: number) => (await chainOf(computer)).map(({ status }) => status);
    const operationsOf = async (computers: readonly number[], place: number) => {
      const chains = await Promise.all(computers.map(chainOf));
      return chains.map((chain) => chain[place]!.id).sort((a, b) => a - b);
    };
    const handle = await start(group);

    expect(await agents.fetch(world.computers)).toEqual(await operationsOf(world.computers, FIX));
    await agents.report(await operationsOf([broken], FIX), false);
    await agents.report(await operationsOf(sound, FIX));
    await until(async () => (await statusesOf(broken))[AUDIT] === 'canceled');
    expect(await statusesOf(broken)).toEqual(['failed', 'canceled', 'canceled']);
    for (const computer of sound) await until(async () => (await statusesOf(computer))[RESTART] === 'undelivered');

    const fixedAt = (await clock.read()).getTime();
    const chains = await Promise.all(sound.map(chainOf));
    const moments = chains.map((chain) => chain[RESTART]!.deliver_at!.getTime() - fixedAt);
    expect(Math.min(...moments)).toBeGreaterThanOrEqual(DELAY_HOURS * HOUR_MS - MINUTE_MS);
    expect(Math.max(...moments)).toBeLessThanOrEqual(DELAY_HOURS * HOUR_MS + WINDOW_MINUTES * MINUTE_MS);
    expect(new Set(moments).size).toBe(sound.length);

    await server.sleep(DELAY_HOURS * HOUR_MS - 2 * MINUTE_MS);
    expect(await agents.fetch(world.computers)).toEqual([]);
    await server.sleep((WINDOW_MINUTES + 4) * MINUTE_MS);
    const restarts = await agents.fetch(world.computers);
    expect(restarts).toEqual(await operationsOf(sound, RESTART));
    expect(await world.profiles.get(world.caller, profile)).toMatchObject({
      lastRun: { in_progress: 3, failing: 1, not_started: 0, open: true },
    });

    await agents.report(restarts);
    for (const computer of sound) await until(async () => (await statusesOf(computer))[AUDIT] === 'undelivered');
    const audits = await agents.fetch(world.computers);
    expect(audits).toEqual(await operationsOf(sound, AUDIT));
    await agents.report(audits);
    for (const computer of sound) {
      const [audit] = await operationsOf([computer], AUDIT);
      const values = [audit, computer, 'r', auditReport(['pass']), clock.now()];
      await db.query('insert into usg_audit_report values ($1, $2, $3, $4, $5)', values);
    }
    await ingestReports({ db, clock, read: async (report) => readAuditReport(report) });

    expect(await failureOf(handle)).toMatchObject({ type: 'AgentFailure' });
    expect(await statusOf(server.client, handle.workflowId)).toBe('FAILED');
    expect(await world.profiles.get(world.caller, profile)).toMatchObject({
      lastRun: { passing: 3, failing: 1, in_progress: 0, not_started: 0, open: false },
    });
  });
});
