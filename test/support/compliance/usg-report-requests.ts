import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import { createDatabaseFileStore } from '../../../src/services/common/files.ts';
import { produceReport } from '../../../src/services/compliance/reports/produce.ts';
import type { FleetWorld } from '../agents/fleet-world.ts';
import { usgProfile } from './usg-profiles.ts';
import { type AuditedRun, aRule, insertAuditedRun } from './usg-results.ts';

/** What tests do with reports over the API, on a world that is made before the first test. */
export function usgReportRequests(worldOf: () => FleetWorld) {
  const admin = () => worldOf().tokens.admin;

  const call = (method: string, path: string, token = admin(), headers = {}) =>
    worldOf().app.call(method, path, { token, headers });

  /** A profile of the servers. */
  const create = async (over: object = {}): Promise<number> => {
    const body = usgProfile({ access_group: 'servers', ...over });
    return (await worldOf().app.call('POST', '/usg-profiles', { token: admin(), body })).body.id;
  };

  /** A run that is over, on two computers and three rules. */
  const run = (profileId: number, startedAt: string, over: Partial<AuditedRun> = {}) => {
    const { db, accountId, ids } = worldOf();
    const computers = new Map([
      [ids['web']!, 'pfn'],
      [ids['db']!, 'ppp'],
    ]);
    const rules = [aRule('rule_1'), aRule('rule_2'), aRule('rule_3')];
    return insertAuditedRun(db, { accountId, profileId, startedAt: new Date(startedAt), computers, rules, ...over });
  };

  const ask = (profileId: number, query: string, token?: string) =>
    call('GET', `/usg-profiles/${profileId}/report?${query}`, token);

  const blob = (path: string, token?: string, headers?: object) =>
    call('GET', `/usg-profiles/blob?path=${encodeURIComponent(path)}`, token, headers);

  /** What a worker does. */
  const produce = (activityId: number) => {
    const { db, clock } = worldOf();
    return produceReport({ db, clock, files: createDatabaseFileStore(db) }, activityId, () => undefined);
  };

  /** The path of a report, made if need be. */
  async function made(profileId: number, query: string): Promise<string> {
    const { status, body } = await ask(profileId, query);
    expect(status).toBe(200);
    if (body.id === null) return body.result_text;
    expect(await produce(body.id)).toBe('succeeded');
    return (await call('GET', `/activities/${body.id}`)).body.result_text;
  }

  async function csv(path: string): Promise<string[][]> {
    const { status, body } = await blob(path);
    expect(status).toBe(200);
    return parse(body.file_content, { record_delimiter: '\r\n' });
  }

  return { call, create, run, ask, blob, produce, made, csv };
}
