import { spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTRL_C, type Environment, runProgram, startOnTerminal } from '../../support/cli/program.ts';
import { Scenario } from '../../support/stack/stack-scenario.ts';

const COMPUTERS = 8;
const EMAIL = 'admin@example.com';
const PASSWORD = 'Scenario-4711';
const TIMEOUT_MS = 180_000;

interface Activity {
  id: number;
  activity_status: string;
  children: Array<{ computer_id: number; activity_status: string; result_text: string | null }>;
}

/** They enrol in any order. */
const byId = (computers: readonly number[]) => computers.toSorted((a, b) => a - b);

describe('flotilla, on a running stack', { timeout: TIMEOUT_MS }, () => {
  let scenario: Scenario;
  let env: Environment;
  const flotilla = (...args: string[]) => runProgram(args, env);
  const json = async <T>(...args: string[]): Promise<T> => {
    const { stdout, stderr } = await flotilla(...args, '-o', 'json');
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as T;
  };

  beforeAll(async () => {
    scenario = await Scenario.start(COMPUTERS);
    env = { XDG_CONFIG_HOME: join(scenario.stack.root, 'beside') };
    const { url } = scenario.stack;
    const login = await runProgram(['login', `${url}/api/v2`, '--email', EMAIL, '--name', 'lab'], env, `${PASSWORD}\n`);
    expect(login).toMatchObject({ code: 0, stdout: '' });
    // The end of the run searches what the stack has logged for tokens, not this file.
    expect((await stat(join(env['XDG_CONFIG_HOME']!, 'flotilla', 'servers.json'))).mode & 0o777).toBe(0o600);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await scenario?.end();
  }, 60_000);

  describe('without a terminal', () => {
    it('lists computers as a table, and for programs', async () => {
      const { stdout } = await flotilla('computers', 'list');
      expect(stdout).toMatch(/^\s*ID {2}TITLE/);
      const rows = await json<Array<{ id: number }>>('computers', 'list');
      expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(scenario.computers));
      const csv = await flotilla('computers', 'list', '-o', 'csv');
      expect(csv.stdout.trim().split('\n')).toHaveLength(rows.length + 1);
    });

    it('installs a snap, waits for its end, and undoes it', async () => {
      const [one, two] = byId(scenario.computers);
      const args = ['snaps', 'install', 'hello', '--id', `${one},${two}`];
      expect(await flotilla(...args, '--wait')).toMatchObject({ code: 2, stdout: '' });
      const [installed] = await json<Activity[]>(...args, '--yes', '--wait');
      expect(installed).toMatchObject({ activity_status: 'succeeded' });
      expect(installed!.children.map((child) => child.computer_id).sort((a, b) => a - b)).toEqual([one, two]);
      expect((await flotilla('snaps', 'list', String(one))).stdout).toContain('hello');
      const reverted = await flotilla('activities', 'revert', String(installed!.id), '--wait');
      expect(reverted).toMatchObject({ code: 0, stderr: expect.stringContaining('2 succeeded') });
      expect((await flotilla('snaps', 'list', String(one))).stdout).not.toContain('hello');
    });

    it('runs a script and prints its output, with exit code 1 where it fails', async () => {
      const [one, two] = scenario.computers;
      const code = '#!/bin/sh\nprintf "a\\033[31mb"\n';
      const added = await runProgram(['scripts', 'add', '-', '--title', 'Colours', '-o', 'json'], env, code);
      const script = JSON.parse(added.stdout) as { id: number };
      const run = ['scripts', 'run', String(script.id), '--id', `${one},${two}`, '--yes', '--wait'];
      const ended = await flotilla(...run);
      expect(ended.code).toBe(0);
      expect(ended.stdout.match(/^== .*: succeeded$/gm)).toHaveLength(2);
      const failing = await runProgram(
        ['scripts', 'add', '-', '--title', 'Fails', '-o', 'json'],
        env,
        '#!/bin/sh\nexit 3',
      );
      const { id } = JSON.parse(failing.stdout) as { id: number };
      const failed = await flotilla('scripts', 'run', String(id), '--id', String(one), '--wait');
      expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('non-zero exit code') });
    });

    it('tags computers, finds them by the tag, and shows them', async () => {
      const [one, two] = byId(scenario.computers);
      const tagged = await json<Array<{ id: number }>>('computers', 'tag', 'cli', '--id', `${one},${two}`, '--yes');
      expect(tagged.map(({ id }) => id)).toEqual([one, two]);
      expect((await json<object[]>('computers', 'list', '-q', 'tag:cli')).length).toBe(2);
      await flotilla('computers', 'untag', 'cli', '-q', 'tag:cli', '--yes');
      expect(await json<object[]>('computers', 'list', '-q', 'tag:cli')).toEqual([]);
      expect((await flotilla('computers', 'show', String(one))).stdout).toMatch(/^ID +\d+\nTITLE /);
      const users = await json<object[]>('computers', 'users', String(one), '--search', 'UBU');
      expect(users).toMatchObject([{ username: 'ubuntu', groups: ['sudo', 'ubuntu'] }]);
    });

    it('changes a kernel, installs a package and ends a process', async () => {
      const all = await json<Array<{ id: number }>>(
        'computers',
        'list',
        '-q',
        scenario.computers.map((id) => `id:${id}`).join(' OR '),
      );
      const kernels = await Promise.all(
        all.map(async ({ id }) => ({ id, kernel: await json<{ upgrades: object[] }>('kernel', 'show', String(id)) })),
      );
      const able = kernels.find(({ kernel }) => kernel.upgrades.length > 0)!;
      expect(await flotilla('kernel', 'upgrade', '--id', String(able.id), '--wait')).toMatchObject({ code: 0 });
      const packages = await json<Array<{ name: string; status: string }>>(
        'packages',
        'list',
        String(able.id),
        '--upgrades',
      );
      const upgraded = await flotilla('packages', 'upgrade', packages[0]!.name, '--id', String(able.id), '--wait');
      expect(upgraded).toMatchObject({ code: 0 });
      const [process] = await json<Array<{ pid: number }>>('processes', 'list', String(able.id));
      const ended = await flotilla('processes', 'terminate', String(able.id), String(process!.pid), '--wait');
      expect([0, 1]).toContain(ended.code);
    });

    it('stops waiting at the timeout with 4, cancels, and then ends with 5', async () => {
      const args = ['computers', 'restart', '--id', String(scenario.computers[0]), '--deliver-after', '2h'];
      const waiting = await flotilla(...args, '--timeout', '1s', '-o', 'json');
      expect(waiting).toMatchObject({ code: 4, stderr: expect.stringContaining('flotilla activities watch') });
      const [{ id }] = JSON.parse(waiting.stdout) as [Activity];
      expect(await flotilla('activities', 'cancel', String(id))).toMatchObject({ code: 0 });
      expect(await flotilla('activities', 'watch', String(id))).toMatchObject({ code: 5 });
    });

    it('ends with 6 while an action waits for approval, and approves it', async () => {
      const args = ['computers', 'restart', '--id', String(scenario.computers[0]), '--deliver-after', '2h'];
      const [{ id }] = (await json<Activity[]>(...args)) as [Activity];
      await scenario.stack.administer(`update activity set status = 'unapproved' where ${id} in (id, parent_id)`);
      const waiting = await flotilla('activities', 'watch', String(id));
      expect(waiting).toMatchObject({ code: 6, stderr: expect.stringContaining(`flotilla activities approve ${id}`) });
      expect(await flotilla('activities', 'approve', String(id))).toMatchObject({ code: 0 });
      expect(await json<Activity>('activities', 'show', String(id))).toMatchObject({ activity_status: 'scheduled' });
      expect(await flotilla('activities', 'cancel', '-q', `parent-id:${id}`)).toMatchObject({ code: 0 });
    });

    it('audits computers, and prints the report once it is written', async () => {
      const [id] = scenario.computers;
      await flotilla('computers', 'tag', 'audited', '--id', String(id));
      const options = [
        '--title',
        'Audit',
        '--benchmark',
        'cis_level1_server',
        '--schedule',
        'FREQ=WEEKLY',
        '--tags',
        'audited',
      ];
      const profile = await json<{ id: number }>('usg', 'create', ...options, '--start', '7d');
      const early = await flotilla('usg', 'report', String(profile.id));
      expect(early).toMatchObject({ code: 3, stderr: expect.stringContaining(`flotilla usg run ${profile.id}`) });
      expect(await flotilla('usg', 'run', String(profile.id), '--wait')).toMatchObject({ code: 0 });
      const report = await flotilla('usg', 'report', String(profile.id));
      expect(report).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Instance ID,/) });
      expect(report.stdout.trim().split('\n')).toHaveLength(2);
      const audits = await json<object[]>('usg', 'audits', String(id));
      expect(audits).toMatchObject([{ profile: { id: profile.id }, mode: 'audit' }]);
    });

    it('names the remedy for wrong queries, unknown ids and ended tokens', async () => {
      const query = await flotilla('computers', 'list', '-q', 'tga:web');
      expect(query).toMatchObject({
        code: 3,
        stdout: '',
        stderr: expect.stringContaining('expected one of the selectors tag'),
      });
      expect(await flotilla('activities', 'show', '2147483647')).toMatchObject({ code: 3 });
      const ended = await runProgram(['computers', 'list'], { FLOTILLA_URL: scenario.stack.url, FLOTILLA_TOKEN: 'x' });
      expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('flotilla login') });
    });

    it('works with an access key of the environment', async () => {
      const data = JSON.stringify({ account: 'standalone', password: PASSWORD });
      const made = await runProgram(['api', 'POST', '/credentials', '--data', '-'], env, data);
      const { access_key, secret_key } = JSON.parse(made.stdout) as Record<string, string>;
      const key = { FLOTILLA_API_KEY: access_key!, FLOTILLA_API_SECRET: secret_key! };
      const args = ['computers', 'list', '--limit', '1', '-o', 'ndjson'];
      const listed = await runProgram(args, { FLOTILLA_API_URI: scenario.stack.url, ...key });
      expect(listed).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(listed.stdout)).toMatchObject({ id: expect.any(Number) });
    });

    it('calls any path, and reads what nothing else does', async () => {
      const preferences = await json<{ title: string }>('api', 'GET', '/preferences');
      expect(preferences.title).toBe('Organization');
      for (const [command, ...rest] of [
        ['admins'],
        ['roles'],
        ['roles', 'permissions'],
        ['access-groups'],
        ['invitations'],
        ['alerts'],
        ['alerts', 'list'],
        ['events'],
        ['pending-computers'],
        ['usg', 'list'],
        ['script-profiles', 'list'],
        ['activities', 'list'],
      ]) {
        const { code, stdout } = await flotilla(command!, ...rest, '-o', 'json');
        expect({ command, code, isList: Array.isArray(JSON.parse(stdout)) }).toEqual({
          command,
          code: 0,
          isList: true,
        });
      }
    });

    it('ends quietly when its reader has gone', async () => {
      const program = join(process.cwd(), 'packages/cli/bin/flotilla.mjs');
      const line = `"${process.execPath}" "${program}" computers list -o ndjson | true; echo "\${PIPESTATUS[0]}"`;
      const shell = spawn('bash', ['-c', line], { env: { ...process.env, ...env } });
      let [stdout, stderr] = ['', ''];
      shell.stdout.on('data', (data: Buffer) => (stdout += data));
      shell.stderr.on('data', (data: Buffer) => (stderr += data));
      await new Promise((settle) => shell.once('close', settle));
      expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' });
    });
  });

  describe('on a terminal', () => {
    it('asks for email and password, and shows neither password nor token', async () => {
      const directory = { XDG_CONFIG_HOME: join(scenario.stack.root, 'beside', 'other') };
      const terminal = startOnTerminal(['login', scenario.stack.url], directory);
      await terminal.shows('Email');
      terminal.type(`${EMAIL}\r`);
      await terminal.shows('Password');
      terminal.type(`${PASSWORD}\r`);
      expect(await terminal.exited).toBe(0);
      expect(terminal.screen()).toContain('Logged in');
      expect(terminal.screen()).not.toContain(PASSWORD);
      expect(terminal.screen()).not.toContain('eyJ');
    });

    it('asks before it acts on several computers, and does nothing when the answer is no', async () => {
      const before = await json<Activity[]>('activities', 'list');
      const terminal = startOnTerminal(['computers', 'restart', '--id', scenario.computers.slice(0, 4).join(',')], env);
      await terminal.shows('Restart: 4 computers');
      terminal.type('n\r');
      expect(await terminal.exited).toBe(5);
      expect(await json<Activity[]>('activities', 'list')).toHaveLength(before.length);
    });

    it('shows a bar that moves until all have ended', async () => {
      const ids = scenario.computers.join(',');
      const terminal = startOnTerminal(['snaps', 'install', 'jq', '--id', ids, '--wait'], env);
      await terminal.shows(`${COMPUTERS} computers`);
      terminal.type('y\r');
      await terminal.shows(new RegExp(`█+ ${COMPUTERS}/${COMPUTERS} +${COMPUTERS} succeeded`));
      expect(await terminal.exited).toBe(0);
      expect(terminal.screen()).toMatch(new RegExp(`[0-7]/${COMPUTERS} `));
    });

    it('detaches on Ctrl-C, says how to continue, and leaves the action alone', async () => {
      const id = String(scenario.computers[0]);
      const terminal = startOnTerminal(['computers', 'restart', '--id', id, '--deliver-after', '2h', '--wait'], env);
      await terminal.shows('1 scheduled');
      terminal.type(CTRL_C);
      expect(await terminal.exited).toBe(4);
      const [, activity] = /flotilla activities watch (\d+)/.exec(terminal.screen()) ?? [];
      // The cursor is back.
      expect(terminal.screen()).toContain('\u001b[?25h');
      expect(await json<Activity>('activities', 'show', activity!)).toMatchObject({ activity_status: 'scheduled' });
      expect(await flotilla('activities', 'cancel', activity!)).toMatchObject({ code: 0 });
    });

    it('cuts tables to its width, and shows no escape sequence of a title', async () => {
      const [id] = scenario.computers;
      const title = `evil ${'very '.repeat(30)}long`;
      await scenario.api.request('PUT', `/computers/${id}`, { title });
      await scenario.stack.administer(`update computer set title = E'\\x1b]0;owned\\x07' || title where id = ${id}`);
      const terminal = startOnTerminal(['computers', 'list'], { ...env, NO_COLOR: '1' }, 80);
      expect(await terminal.exited).toBe(0);
      const screen = terminal.screen();
      expect(screen).toMatch(/\\u001b\]0.*…/);
      expect(screen).not.toContain('\u001b');
      expect(Math.max(...screen.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    });
  });
});
