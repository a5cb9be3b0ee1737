import { appendFile, mkdir, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { followLogs } from '../../../tools/stack/processes/log-follower.ts';
import { createRunningRecord } from '../../../tools/stack/processes/running-file.ts';
import { temporaryDirectory } from '../../support/common/process.ts';

const LARGE = 50 * 1024 * 1024;

it('shows errors and keeps a log small where its older lines cannot be kept', async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, 'api.log');
  await writeFile(file, '');
  await truncate(file, LARGE);
  // No file can be written there.
  await mkdir(`${file}.1`);
  const shown: string[] = [];
  const stop = followLogs(new Map([['API', file]]), (name, text) => shown.push(`${name}: ${text}`));
  await appendFile(file, `${JSON.stringify({ level: 50, msg: 'no room' })}\n`);
  await expect.poll(() => shown).toEqual(['API: no room']);
  await expect.poll(async () => (await stat(file)).size).toBe(0);
  expect(() => stop()).not.toThrow();
});

it('a process is started though the disk takes no note of it', async () => {
  const file = join(await temporaryDirectory(), 'running.json');
  const record = createRunningRecord(file);
  await mkdir(`${file}.new`);
  expect(() => record.add('API', process.pid)).not.toThrow();
});
