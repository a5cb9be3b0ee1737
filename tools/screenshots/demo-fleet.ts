import type { FlotillaClient } from '@flotilla/client';

const AUDIT = {
  title: 'CIS level 1',
  benchmark: 'cis_level1_server' as const,
  mode: 'audit' as const,
  schedule: 'FREQ=WEEKLY;BYDAY=MO',
  tags: ['production'],
  all_computers: false,
  access_group: 'global',
  tailoring_file: null,
};
/** The simulated computers fail what exits with another code than 0. */
const CHECK = { title: 'Free disk space', code: '#!/bin/sh\ndf -h /\n', username: 'root', access_group: 'global' };
const WORK_MS = 120_000;

/** What pictures show of a fleet. */
export interface DemoFleet {
  activity: number;
  computer: number;
  webhook: number;
  /** Does something on a few computers, and waits until it is done. */
  act(): Promise<void>;
}

/**
 * Fills a new fleet with what a fleet has after a morning: tags, a script, a profile with an audit, a webhook that sends to a
 * URL, and finished work.
 */
export async function prepareDemoFleet(client: FlotillaClient, receiver: string): Promise<DemoFleet> {
  const { results: computers } = (await client.GET('/computers', { params: { query: { limit: 1000 } } })).data;
  const ids = computers.map(({ id }) => id);
  await client.POST('/computers:add-tags', { body: { query: 'title:web', tags: ['production', 'web'] } });
  const { id: script_id } = (await client.POST('/scripts', { body: CHECK })).data;
  const types = ['activity.ended' as const, 'alert.raised' as const];
  const { webhook } = (await client.POST('/webhooks', { body: { url: receiver, types, ordered: false } })).data;
  const start_date = new Date(Date.now() - 60_000).toISOString();
  await client.POST('/usg-profiles', { body: { ...AUDIT, start_date } });
  const snaps = [{ name: 'hello' }];
  const install = (await client.POST('/snaps', { body: { action: 'install', computer_ids: ids, snaps } })).data;
  const check = (
    await client.POST('/scripts/{script_id}:execute', { params: { path: { script_id } }, body: { query: 'tag:web' } })
  ).data;
  for (const { id } of [install, check]) await client.waitFor(id, { timeout: WORK_MS });
  const act = async () => {
    const body = { action: 'refresh' as const, computer_ids: ids.slice(0, 5), snaps };
    await client.waitFor((await client.POST('/snaps', { body })).data.id, { timeout: WORK_MS });
  };
  return { activity: install.id, computer: ids[0]!, webhook: webhook.id, act };
}
