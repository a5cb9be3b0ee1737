import { describe, expect, it } from 'vitest';
import { page, runInProcess, startStandIn } from '../../../support/cli/in-process.ts';
import { eventOf, idOf, startFeed } from '../../../support/events/feed-stand-in.ts';

const FOLLOW = ['events', '-f', '--after', 'oldest'];
const envOf = (url: string) => ({ FLOTILLA_URL: url, FLOTILLA_TOKEN: 'a-token' });

describe('flotilla events', () => {
  it('--follow prints a line for each event, and where to continue', async () => {
    const feed = await startFeed(12, [{ kind: 'cut', bytes: 700 }]);
    const { code, stdout, stderr } = await runInProcess([...FOLLOW, '--limit', '12'], envOf(feed.url));
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(12);
    expect(lines[10]).toMatch(
      /^2026-11-27T10:30:11.000Z {2}computer.changed {2}computers\/11 {2}ordinateur n° 11 🖥: title$/,
    );
    expect(stderr).toContain('The connection is lost. Trying again until it is back.\n');
    expect(stderr).toContain(`To continue: flotilla events -f --after ${idOf(12)}\n`);
  });

  it.each([
    [
      'ndjson',
      (text: string) =>
        text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
    ],
    ['json', (text: string) => JSON.parse(text)],
  ])('--follow -o %s prints whole events', async (format, parse) => {
    const feed = await startFeed(3, []);
    const { stdout } = await runInProcess([...FOLLOW, '--limit', '3', '-o', format], envOf(feed.url));
    expect(parse(stdout)).toEqual([1, 2, 3].map(eventOf));
  });

  it('--follow -o csv has a header', async () => {
    const feed = await startFeed(1, []);
    const { stdout } = await runInProcess([...FOLLOW, '--limit', '1', '-o', 'csv'], envOf(feed.url));
    expect(stdout.split('\n').slice(0, 2)).toEqual([
      'time,type,subject,text',
      '2026-11-27T10:30:01.000Z,computer.changed,computers/1,ordinateur n° 1 🖥: title',
    ]);
  });

  it('--follow ends with 0 on Ctrl-C, and repeats its options in what it prints', async () => {
    const feed = await startFeed(2, []);
    const running = runInProcess(['events', '-f', '--types', 'computer.changed', '-q', "tag:o'x"], envOf(feed.url));
    await expect.poll(feed.open).toBe(1);
    await expect.poll(() => process.listenerCount('SIGINT')).toBeGreaterThan(0);
    setTimeout(() => process.emit('SIGINT'), 200);
    const { code, stdout, stderr } = await running;
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toBe(
      `To continue: flotilla events -f --after ${idOf(2)} --types computer.changed -q 'tag:o'\\''x'\n`,
    );
    await expect.poll(feed.open).toBe(0);
  });

  it('--follow ends with 3 when the server refuses, or is not there', async () => {
    const feed = await startFeed(2, [{ kind: 'status', status: 410 }]);
    expect(await runInProcess(FOLLOW, envOf(feed.url))).toMatchObject({ code: 3, stderr: 'error: why\n' });
    await feed.close();
    const { code, stderr } = await runInProcess(FOLLOW, envOf(feed.url));
    expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining('nothing listens there') });
  });

  it('--after prints what has happened since, and ends', async () => {
    const { env, received } = await startStandIn(() => [200, { events: [eventOf(2)], cursor: idOf(3), more: false }]);
    const { code, stdout, stderr } = await runInProcess(['events', '--after', idOf(1), '-o', 'ndjson'], env);
    expect({ code, event: JSON.parse(stdout) }).toEqual({ code: 0, event: eventOf(2) });
    expect(stderr).toBe(`To continue: flotilla events --after ${idOf(3)}\n`);
    expect(received.map(({ path }) => path)).toEqual([`/events?after=${idOf(1)}&limit=1000`]);
  });

  it('without both lists the log', async () => {
    const entry = { creation_time: '2026-11-27T10:30:00Z', person_name: 'Ada', message: 'Did it', address: '::1' };
    const { env, received } = await startStandIn(() => page([entry]));
    expect((await runInProcess(['events'], env)).stdout).toContain('Did it');
    expect(received[0]!.path).toBe('/events?limit=100');
  });

  it.each([
    [['events', '--types', 'computer.changed'], 'need --follow or --after'],
    [['events', '-f', '--days', '3'], 'cannot be combined'],
  ])('%j is wrong usage', async (args, message) => {
    const ended = await runInProcess(args, envOf('http://127.0.0.1:9'));
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
  });
});
