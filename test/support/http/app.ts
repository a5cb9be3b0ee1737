import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { type AppDeps, createApp } from '../../../src/api/app/app.ts';
import type { Sql } from '../../../src/persistence/database/sql.ts';
import type { Persistence } from '../../../src/persistence/orm/orm.ts';
import { type ActivitySettings, type Config, loadConfig } from '../../../src/process/config.ts';
import { createLogger, type Logger } from '../../../src/process/logger.ts';
import {
  type Caller,
  type Clock,
  systemClock,
  type TemporalHealth,
  type TokenFacts,
} from '../../../src/services/common/ports.ts';
import { createStandaloneAccount } from '../../../src/services/identity/accounts.service.ts';
import { createServices, type Services } from '../../../src/services/setup/services.ts';
import { testLogger } from '../../../tools/harness/test-log.ts';
import type { TestAccount } from '../activities/activity-rows.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { VALIDATORS } from './validators.ts';

export const JWT_SECRET = 'a secret of the tests that is long enough';
export const PUBLIC_URL = 'https://fleet.example';
export const ADMIN = { email: 'admin@fleet.example', name: 'Admin One', password: 'correct horse' };

export interface ApiResponse {
  status: number;
  headers: Headers;
  // Tests look into bodies of every shape.
  // biome-ignore lint/suspicious/noExplicitAny: responses are checked against the document by the app itself
  body: any;
  text: string;
}

interface CallOptions {
  token?: string | null;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, instead of `body`. */
  raw?: string | Uint8Array;
  headers?: Record<string, string>;
}

export interface TestApp {
  services: Services;
  /** What serves, for another server in front of it. */
  listener: RequestListener;
  /** Address of the server, without a path. */
  url: string;
  /** Calls a path; those starting with `/` and not `/api` are below `/api/v2`. */
  call(method: string, path: string, options?: CallOptions): Promise<ApiResponse>;
  /** Logs in and returns the token. */
  login(person?: { email: string; password: string }): Promise<string>;
  close(): Promise<void>;
}

export interface TestAppOptions {
  clock?: Clock;
  activities?: ActivitySettings;
  temporal?: TemporalHealth;
  deployment?: AppDeps['deployment'];
  publicUrl?: string;
  /** Further settings, over those of an empty environment. */
  settings?: Partial<Config>;
  logLevel?: string;
  /** In place of the usual one. */
  jwtSecrets?: readonly string[];
  /** In place of the one that the end of the run searches for secrets. */
  logger?: Logger;
  concurrency?: AppDeps['concurrency'];
  requestMemory?: AppDeps['requestMemory'];
  gateway?: AppDeps['gateway'];
  codec?: AppDeps['codec'];
  webPage?: AppDeps['webPage'];
  onRequestEnd?: AppDeps['onRequestEnd'];
}

/** Retries while no database connection was free in time: a request that gets 503 then has had no effect. */
export async function insist(request: () => Promise<ApiResponse>): Promise<ApiResponse> {
  let response = await request();
  while (response.status === 503) response = await request();
  return response;
}

/** The whole application on a real server, responses checked against the OpenAPI document. */
export async function createTestApp(persistence: Persistence, options: TestAppOptions = {}): Promise<TestApp> {
  const deployment = options.deployment ?? 'standalone';
  const publicUrl = options.publicUrl ?? PUBLIC_URL;
  const settings = { ...loadConfig({ FLOTILLA_DEPLOYMENT: deployment }, 'stack'), publicUrl };
  const leveled = options.logLevel ? createLogger({ level: options.logLevel, role: 'test' }) : testLogger();
  const logger = options.logger ?? leveled;
  const services = createServices({
    persistence,
    clock: options.clock ?? systemClock,
    temporal: options.temporal ?? { check: async () => undefined },
    jwtSecrets: options.jwtSecrets ?? [JWT_SECRET],
    logger,
    settings: { ...settings, activities: options.activities ?? settings.activities, ...options.settings },
  });
  const app = createApp({
    services,
    logger,
    publicUrl,
    deployment,
    trustedProxies: options.settings?.trustedProxies,
    rate: options.settings?.traffic?.api,
    clock: options.clock,
    concurrency: options.concurrency,
    requestMemory: options.requestMemory,
    gateway: options.gateway,
    codec: options.codec,
    webPage: options.webPage,
    onRequestEnd: options.onRequestEnd,
    unknownKeys: options.settings?.unknownKeys,
    validators: VALIDATORS,
    validateResponses: true,
  });
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const call = (method: string, path: string, callOptions?: CallOptions) => callApp(url, method, path, callOptions);
  return {
    services,
    listener: app,
    url,
    call,
    async login(person = ADMIN) {
      const response = await call('POST', '/login', { body: { email: person.email, password: person.password } });
      if (response.status !== 200) throw new Error(`login: ${response.status} ${response.text}`);
      return response.body.token;
    },
    async close() {
      await services.eventHub.close();
      await closeServer(server);
    },
  };
}

/** Makes the standalone account with `ADMIN`. */
export function createAdmin(persistence: Persistence): Promise<{ accountId: number; personId: number }> {
  const { passwords } = loadConfig({}, 'stack').identity;
  return createStandaloneAccount(persistence, { ...ADMIN, passwords, autoRegister: true, registrationKey: null });
}

const ROOT_PATHS = /^\/(api|docs|openapi\.json|healthz|readyz|codec|ping|message-system|attachment|hash-id)/;

async function callApp(url: string, method: string, path: string, options: CallOptions = {}): Promise<ApiResponse> {
  const headers: Record<string, string> = { ...options.headers };
  if (options.token) headers['authorization'] = `Bearer ${options.token}`;
  const json = options.body !== undefined;
  if ((json || options.raw !== undefined) && !('content-type' in headers)) headers['content-type'] = 'application/json';
  const response = await fetch(`${url}${ROOT_PATHS.test(path) ? '' : '/api/v2'}${path}`, {
    method,
    headers,
    body: (json ? JSON.stringify(options.body) : options.raw) as RequestInit['body'],
  });
  // Streams do not end by themselves: their own tests read them.
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (isStream) await response.body!.cancel();
  const text = isStream ? '' : await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** Facts of a token that never ends, of a login with a password. */
export const TEST_TOKEN: TokenFacts = {
  id: 'test',
  family: 'test',
  method: 'pwd',
  accessKey: null,
  expiresAt: Number.MAX_SAFE_INTEGER,
  epochs: { person: 0, account: 0, system: 0 },
};

/** Somebody of an account who may do everything, for calling services without the API. */
export async function administratorOf(db: Sql, account: TestAccount): Promise<Caller> {
  const [person] = await db.query<{ id: number; email: string }>(
    `insert into person (name, email, allowable_emails, identity)
     select 'Admin', mail, array[mail], mail from (select gen_random_uuid() || '@fleet.example' as mail) m
     returning id, email`,
  );
  return {
    token: TEST_TOKEN,
    personId: person!.id,
    email: person!.email,
    name: 'Admin',
    accountId: account.accountId,
    accountName: 'test',
    may: () => true,
    groups: () => 'all',
    origin: { address: '127.0.0.1', requestId: 'test' },
  };
}

/** What "holds on every process" allows. */
const WITHIN_MS = 5000;

/** Two processes of one API on one database, with a clock that the test moves. */
export interface TwoProcesses {
  database: TestDatabase;
  app: TestApp;
  other: TestApp;
  clock: { now(): Date };
  pass(ms: number): void;
  /** Lets as much time pass as what ends tokens may take to hold everywhere. */
  passToOthers(): void;
  /** The token is known to, and cached by, both processes. */
  works(token: string): Promise<void>;
  /** The token has ended in the first process, and in the other one in time. */
  hasEnded(token: string): Promise<void>;
  close(): Promise<void>;
}

export async function createTwoProcesses(): Promise<TwoProcesses> {
  const database = await createTestDatabase();
  let nowMs = Date.now();
  const clock = { now: () => new Date(nowMs) };
  const app = await createTestApp(database.persistence, { clock });
  const other = await createTestApp(database.persistence, { clock });
  const person = (at: TestApp, token: string) => at.call('GET', '/person', { token });
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  const passToOthers = (): void => pass(WITHIN_MS);
  return {
    database,
    app,
    other,
    clock,
    pass,
    passToOthers,
    async works(token) {
      for (const at of [app, other]) expect((await person(at, token)).status).toBe(200);
    },
    async hasEnded(token) {
      expect((await person(app, token)).body).toMatchObject({ error: 'Unauthorized', code: 401 });
      passToOthers();
      expect((await person(other, token)).body).toMatchObject({ error: 'Unauthorized', code: 401 });
    },
    async close() {
      await app.close();
      await other.close();
      await database.drop();
    },
  };
}

/** The key of recorded histories and of whatever tests encrypt. */
export const TEST_KEYS = [{ id: 'test', key: Buffer.alloc(32, 7) }];
