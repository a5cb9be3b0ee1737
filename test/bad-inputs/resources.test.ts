import { describe, expect, it } from 'vitest';
import { times, useGuardedWorld } from './resource-guard.ts';

/** What attacks cost a server, measured in its own process while an honest client goes on. @see docs/reliability.md#cost-of-an-attack */
const world = useGuardedWorld();
const { call } = world;
const MIB = 1024 * 1024;

describe('the guard', () => {
  it('notices quadratic work', async () => {
    await expect(world.server.expectHarmless(() => fetch(`${world.server.url}/planted/quadratic`))).rejects.toThrow(
      /blockedMs/,
    );
  });

  it('notices memory', async () => {
    await expect(world.server.expectHarmless(() => fetch(`${world.server.url}/planted/memory`))).rejects.toThrow(
      /rssMb/,
    );
  });

  it('lets honest work pass', async () => {
    await world.server.expectHarmless(() => times(10, [200], () => call('GET', '/features')));
  });
});

describe('tokens and logins', () => {
  it('JWT-types: 50 tokens of 64 kB cost less than 5 ms each', async () => {
    const long = `${'a'.repeat(20_000)}.${'b'.repeat(24_000)}.${'c'.repeat(20_000)}`;
    const attack = () => times(50, [401], () => call('GET', '/person', undefined, { authorization: `Bearer ${long}` }));
    await world.server.expectHarmless(attack, { cpuMs: 250 });
  });

  it('JWT-types: 100 tokens with claims out of shape cost less than 5 ms each', async () => {
    const parts = world.token.split('.');
    const claims = Buffer.from(`{"sub":${'['.repeat(2500)}${']'.repeat(2500)},"exp":1e400}`).toString('base64url');
    const bad = `${parts[0]}.${claims}.${parts[2]}`;
    const attack = () => times(100, [401], () => call('GET', '/person', undefined, { authorization: `Bearer ${bad}` }));
    await world.server.expectHarmless(attack, { cpuMs: 500 });
  });

  it('LOGIN-long: 20 passwords of 1 MB are rejected without any work on them', async () => {
    const body = JSON.stringify({ email: 'admin@fleet.example', password: 'x'.repeat(MIB) });
    await world.server.expectHarmless(() => times(20, [400], () => call('POST', '/login', body)));
  });

  it('LOGIN-storm: 500 at once take the memory of a few hashes, and the processor time of those that wait', async () => {
    const login = (n: number) => call('POST', '/login', { email: `storm${n}@fleet.example`, password: 'wrong' });
    const attack = async () => {
      const responses = await Promise.all(Array.from({ length: 500 }, (_, n) => login(n)));
      // 429 once the address has spent its budget.
      for (const { status } of responses) expect([401, 429, 503]).toContain(status);
    };
    // Hashes are worked off in threads of their own, 15 to 30 ms each; what is bounded is how many of them there are.
    await world.server.expectHarmless(attack, { cpuMs: 10_000, rssMb: 150 });
  });
});

describe('queries and pages', () => {
  it('QUERY-deep: long queries are rejected at once', async () => {
    const texts = ['NOT '.repeat(100_000), 'a OR '.repeat(200_000), '('.repeat(500_000), 'x'.repeat(MIB)];
    const attack = async () => {
      for (const search of texts) {
        await times(3, [400], () => call('POST', '/saved-searches', { name: 'deep', title: 'Deep', search }));
        await times(3, [400, 431], () =>
          call('GET', `/computers?query=${search.replaceAll(' ', '+').slice(0, 60_000)}`),
        );
      }
    };
    await world.server.expectHarmless(attack);
  });

  it('QUERY-redos: crafted queries below the limits take no more than others', async () => {
    const texts = ['"'.repeat(4000), ' '.repeat(4000), `${'a'.repeat(7000)}!`, 'tag:'.repeat(1500), '\\"'.repeat(2000)];
    const attack = async () => {
      for (const text of texts) {
        await times(5, [200, 400], () => call('GET', `/computers?limit=1&query=${encodeURIComponent(text)}`));
      }
    };
    await world.server.expectHarmless(attack);
  });

  it('PAGE-bad: no page is larger than the largest', async () => {
    const attack = async () => {
      await times(2, [200, 400], () => call('GET', '/computers?limit=1000000000'));
      await times(2, [200, 400], () => call('GET', '/computers?limit=1000&offset=9007199254740991'));
      await times(2, [400], () => call('GET', '/computers?limit=1000000000000000000000&offset=-1'));
    };
    await world.server.expectHarmless(attack);
  });
});
