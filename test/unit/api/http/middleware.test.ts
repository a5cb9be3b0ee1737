import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DomainError } from '../../../../src/domain/common/errors.ts';
import { authorize } from '../../../../src/api/http/middleware/authorize.ts';
import { rateLimit } from '../../../../src/api/http/middleware/rate-limit.ts';
import { requestId } from '../../../../src/api/http/middleware/request-id.ts';
import type { Operation } from '../../../../src/api/http/operations.ts';
import type { RequestState } from '../../../../src/api/http/request-state.ts';
import type { Principal } from '../../../../src/services/common/ports.ts';
import type { Authenticator } from '../../../../src/services/identity/login/authenticator.ts';

/** Serves an application whose errors are shown by their code. @returns what GET / gets */
async function serve(app: Express): Promise<(headers?: Record<string, string>) => Promise<unknown>> {
  const showCode: ErrorRequestHandler = (error, _req, res, _next) => {
    res.json(error instanceof DomainError ? error.code : String(error));
  };
  const server = app.use(showCode).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return async (headers = {}) => (await fetch(`http://127.0.0.1:${port}`, { headers })).json();
}

/** What earlier middleware has found out. */
const withState = (state: Partial<RequestState>): Express =>
  express().use((_req, res, next) => {
    Object.assign(res.locals, state);
    next();
  });

describe('requestId', () => {
  it('takes a plain id of the client, and makes one otherwise', async () => {
    const get = await serve(express().use(requestId(), (_req, res) => void res.json(res.locals.requestId)));
    expect(await get({ 'x-request-id': 'deploy-4.2_a' })).toBe('deploy-4.2_a');
    for (const odd of ['', 'two words', 'a'.repeat(65), '<script>']) {
      expect(await get({ 'x-request-id': odd })).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    }
  });
});

describe('rateLimit', () => {
  let now = 0;
  const clock = { now: () => new Date(now) };
  const caller = (id: string) => ({ token: { id } }) as unknown as Principal;

  it('counts tokens and addresses apart, and lets them go on as time passes', async () => {
    const state: Partial<RequestState> = { address: '192.0.2.1', principal: caller('one') };
    const { requests } = rateLimit({ perSecond: 1, burst: 2 }, clock);
    const get = await serve(withState(state).use(requests, (_req, res) => void res.json('served')));
    expect([await get(), await get(), await get()]).toEqual(['served', 'served', 'TooManyRequests']);
    state.principal = caller('two');
    expect(await get()).toBe('served');
    state.principal = null;
    expect([await get(), await get(), await get()]).toEqual(['served', 'served', 'TooManyRequests']);
    now += 1000;
    expect([await get(), await get()]).toEqual(['served', 'TooManyRequests']);
  });

  it('counts invalid tokens against their address', async () => {
    const { invalidTokens } = rateLimit({ perSecond: 1, burst: 1 }, clock);
    const app = withState({ address: '192.0.2.1' }).use(() => {
      throw new DomainError('Unauthorized', 'The token is invalid');
    });
    const get = await serve(app.use(invalidTokens));
    expect([await get(), await get()]).toEqual(['Unauthorized', 'TooManyRequests']);
  });
});

describe('authorize', () => {
  const offer = { deployment: 'standalone', features: new Set<string>() } as const;
  const principal = (...rights: string[]) =>
    ({ token: { method: 'pwd' }, accountName: 'standalone', may: (right: string) => rights.includes(right) }) as never;

  /** What a caller gets whose rights were cached as `cached` and are `stored` by now. */
  async function authorized(
    operation: Partial<Operation>,
    cached: Principal | null,
    stored = cached,
  ): Promise<unknown> {
    const authenticator = { reauthenticate: async () => stored } as unknown as Authenticator;
    const app = withState({ principal: cached }).use(authorize(authenticator, offer, operation as Operation));
    return (await serve(app.use((_req, res) => void res.json('served'))))();
  }

  it('asks for every permission of the operation', async () => {
    const operation: Partial<Operation> = { access: ['ViewComputer', 'ManageComputer'] };
    expect(await authorized(operation, principal('ViewComputer', 'ManageComputer'))).toBe('served');
    expect(await authorized(operation, principal('ViewComputer'))).toBe('Forbidden');
  });

  it('reads rights again before it denies anything', async () => {
    const operation: Partial<Operation> = { access: ['ViewComputer'] };
    expect(await authorized(operation, principal(), principal('ViewComputer'))).toBe('served');
  });

  it('lets everybody do what needs no token, and nobody what is not offered', async () => {
    expect(await authorized({ access: 'none' }, null)).toBe('served');
    expect(await authorized({ access: 'none', feature: 'wsl-management' }, null)).toBe('FeatureNotEnabled');
  });
});
