import { describe, expect, it } from 'vitest';
import { configuration, page, runInProcess, startStandIn } from '../../../support/cli/in-process.ts';

describe('login', () => {
  const server = () =>
    startStandIn(({ path }) =>
      path === '/login' ? [200, { token: 'the-secret-token', email: 'ada', accounts: [] }] : page([]),
    );

  it('takes the password from standard input, stores the token, and never shows it', async () => {
    const [{ url, received }, env] = [await server(), await configuration()];
    const ended = await runInProcess(['login', url, '--email', 'ada@lab.example'], env, 'the password\n');
    expect(ended).toMatchObject({ code: 0, stdout: '' });
    expect(received[0]!.body).toMatchObject({ email: 'ada@lab.example', password: 'the password' });
    expect(ended.stderr).not.toContain('the-secret-token');
    const listed = await runInProcess(['servers', '-o', 'json'], env);
    expect(JSON.parse(listed.stdout)).toEqual([
      { name: new URL(url).host, url, email: 'ada@lab.example', current: true },
    ]);
    expect((await runInProcess(['computers', 'list'], env)).code).toBe(0);
    expect(received.at(-1)!.authorization).toBe('Bearer the-secret-token');
  });

  it('keeps several logins, of which one is current', async () => {
    const [one, two, env] = [await server(), await server(), await configuration()];
    for (const [name, { url }] of [
      ['one', one],
      ['two', two],
    ] as const) {
      await runInProcess(['login', url, '--email', 'a@b.example', '--name', name], { ...env, FLOTILLA_PASSWORD: 'p' });
    }
    await runInProcess(['servers', 'use', 'one'], env);
    await runInProcess(['computers', 'list'], env);
    expect(one.received.at(-1)!.path).toContain('/computers');
    await runInProcess(['--server', 'two', 'computers', 'list'], env);
    expect(two.received.at(-1)!.path).toContain('/computers');
    expect((await runInProcess(['logout'], env)).code).toBe(0);
    expect(one.received.at(-1)!.path).toBe('/logout');
    const ended = await runInProcess(['computers', 'list'], env);
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('flotilla login URL') });
  });

  it('fails without an address and without a password', async () => {
    const env = await configuration();
    expect(await runInProcess(['login', 'http://127.0.0.1:9'], env)).toMatchObject({ code: 2 });
    const ended = await runInProcess(['login', 'http://127.0.0.1:9', '--email', 'a@b.example'], env);
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('FLOTILLA_PASSWORD') });
  });
});
