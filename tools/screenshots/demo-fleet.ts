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

/** Fills a new fleet with what a fleet has after a morning: tags, a script, a profile with an audit, and finished work. */
export async function prepareDemoFleet(client: FlotillaClient): Promise<{ activity: number; computer: number }> {
  const { results: computers } = (await client.GET('/computers', { params: { query: { limit: 1000 } } })).data;
  const ids = computers.map(({ id }) => id);
  await client.POST('/computers:add-tags', { body: { query: 'title:web', tags: ['production', 'web'] } });
  const { id: script_id } = (await client.POST('/scripts', { body: CHECK })).data;
  const start_date = new Date(Date.now() - 60_000).toISOString();
  await client.POST('/usg-profiles', { body: { ...AUDIT, start_date } });
  const snaps = [{ name: 'hello' }];
  const install = (await client.POST('/snaps', { body: { action: 'install', computer_ids: ids, snaps } })).data;
  const check = (
    await client.POST('/scripts/{script_id}:execute', { params: { path: { script_id } }, body: { query: 'tag:web' } })
  ).data;
  for (const { id } of [install, check]) await client.waitFor(id, { timeout: WORK_MS });
  return { activity: install.id, computer: ids[0]! };
}
