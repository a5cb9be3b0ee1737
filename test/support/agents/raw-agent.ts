import { randomBytes } from 'node:crypto';
import { createGateway } from '../../../src/gateway/http/gateway.ts';
import { EVERYTHING } from '../../../src/gateway/http/message-types.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { openPersistence } from '../../../src/persistence/orm/orm.ts';
import { loadConfig } from '../../../src/process/config.ts';
import { BFloat, type BObject, BTuple, type BValue, decode, emptyDict, encode } from '../../../src/protocol/bpickle.ts';
import { systemClock } from '../../../src/services/common/ports.ts';
import { createEngine } from '../../../src/services/engine/engine.ts';
import { testLogger } from '../../../tools/harness/test-log.ts';
import { createTestDatabase } from '../database/database.ts';
import { createAdmin, createTestApp, type TestApp } from '../http/app.ts';

export interface ExchangeResponse {
  status: number;
  body: BObject;
  messages: BObject[];
  /** Types of the messages, in order. */
  types: string[];
  token: string | null;
  nextExpected: number | null;
}

/** Sends one payload as it is, by a connection of its own, as the client does. */
export async function post(
  world: { url: string },
  payload: BValue | Buffer,
  headers: Record<string, string> = {},
): Promise<ExchangeResponse> {
  const response = await fetch(`${world.url}/message-system`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/octet-stream', 'X-Message-API': '3.3', Connection: 'close', ...headers },
    body: new Uint8Array(Buffer.isBuffer(payload) ? payload : encode(payload)),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const body = response.status === 200 ? (decode(bytes) as BObject) : {};
  const messages = (body['messages'] ?? []) as BObject[];
  const token = body['next-exchange-token'];
  return {
    status: response.status,
    body,
    messages,
    types: messages.map((message) => String(message['type'])),
    token: token instanceof Uint8Array ? Buffer.from(token).toString() : null,
    nextExpected: (body['next-expected-sequence'] as number | undefined) ?? null,
  };
}

/** Posts a ping. */
export async function ping(world: { url: string }, insecureId: number): Promise<BValue> {
  const response = await fetch(`${world.url}/ping`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: `insecure_id=${insecureId}`,
  });
  return decode(Buffer.from(await response.arrayBuffer()));
}

/** @returns the first message of the response */
export async function register(world: { url: string }, fields: Record<string, BValue>): Promise<BObject> {
  const message = { type: 'register', computer_title: 'web-1', hostname: 'web-1.example.com', ...fields };
  const response = await post(world, { messages: [message] });
  return response.messages[0]!;
}

/** The state of an agent: identity, counters, token. */
export class RawAgent {
  readonly world: { url: string };
  readonly id: number;
  readonly secureId: string;
  /** Number of the next message to send. */
  sequence = 0;
  /** Number of the next message wanted from the server. */
  next = 0;
  token: string | null = null;
  typesDigest: Buffer = EVERYTHING.digest;

  constructor(world: { url: string }, id: number, secureId: string) {
    this.world = world;
    this.id = id;
    this.secureId = secureId;
  }

  /** Enrols a new computer. */
  static async enrol(
    world: { url: string },
    account: { name: string },
    fields: Record<string, BValue> = {},
  ): Promise<RawAgent> {
    const title = `computer-${randomBytes(4).toString('hex')}`;
    const names = { account_name: account.name, computer_title: title, hostname: `${title}.example.com` };
    const response = await register(world, { ...names, ...fields });
    if (response['type'] !== 'set-id') throw new Error(`not enrolled: ${response['type']} ${response['info']}`);
    return new RawAgent(world, response['insecure-id'] as number, Buffer.from(response['id'] as Buffer).toString());
  }

  payload(messages: BValue[] = [], change: Record<string, BValue> = {}): BObject {
    return {
      'server-api': Buffer.from('3.3'),
      'client-api': Buffer.from('3.8'),
      'accepted-types': this.typesDigest,
      'total-messages': messages.length,
      sequence: this.sequence,
      'next-expected-sequence': this.next,
      messages,
      ...change,
    };
  }

  headers(): Record<string, string> {
    return { 'X-Computer-ID': this.secureId, ...(this.token ? { 'X-Exchange-Token': this.token } : {}) };
  }

  /** Sends messages and acknowledges everything in the response. */
  async exchange(messages: BValue[] = [], change: Record<string, BValue> = {}): Promise<ExchangeResponse> {
    const response = await this.send(messages, change);
    this.ingest(response);
    return response;
  }

  /** Sends messages without acknowledging the response; uses up the token. */
  async send(messages: BValue[] = [], change: Record<string, BValue> = {}): Promise<ExchangeResponse> {
    const headers = this.headers();
    this.token = null;
    return post(this.world, this.payload(messages, change), headers);
  }

  ingest(response: ExchangeResponse): void {
    this.token = response.token;
    if (response.nextExpected !== null) this.sequence = response.nextExpected;
    this.next += response.messages.length;
  }
}

/** A result of an operation. */
export function result(operationId: number, fields: Record<string, BValue> = {}): BObject {
  return { type: 'operation-result', 'operation-id': operationId, status: 6, 'result-text': 'done', ...fields };
}

/** Reports the operations in `done` as done, in one exchange. @returns the operations that came */
export async function work(agent: RawAgent, done: readonly number[] = []): Promise<number[]> {
  const response = await agent.exchange(done.map((id) => result(id)));
  return response.messages.flatMap((message) => (message['operation-id'] as number | undefined) ?? []);
}

/** Exchanges until no operation comes any more. @returns all operations that came, in order */
export async function drain(fleet: ServedFleet, agent: RawAgent, done: readonly number[] = []): Promise<number[]> {
  const all: number[] = [];
  let last = [...done];
  for (let idle = 0; idle < 3; idle = last.length === 0 ? idle + 1 : 0) {
    last = await work(agent, last);
    all.push(...last);
    await fleet.processEvents();
  }
  return all;
}

/** The API and the gateway in one application on a database; the test itself does what workers do. */
export interface ServedFleet {
  readonly app: TestApp;
  readonly url: string;
  readonly token: string;
  db: Database;
  accountId: number;
  adminId: number;
  /** Enrols scripted agents, ready to be given operations. */
  enrol(count: number): Promise<RawAgent[]>;
  /** Requests one snap installation per computer; returns the group. */
  install(agents: readonly RawAgent[], snap?: string): Promise<number>;
  /** Processes all pending events of open batches, as workers do. */
  processEvents(): Promise<void>;
  /** Ends everything that keeps state in memory and starts it anew; tokens and agents stay good. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function createServedFleet(): Promise<ServedFleet> {
  const database = await createTestDatabase();
  const { db } = database.persistence;
  const { accountId, personId } = await createAdmin(database.persistence);
  let server = await serve(database.url);
  const token = await server.app.login();
  const fleet: ServedFleet = {
    get app() {
      return server.app;
    },
    get url() {
      return server.app.url;
    },
    token,
    db,
    accountId,
    adminId: personId,
    async enrol(count) {
      const agents = await Promise.all(
        Array.from({ length: count }, () => RawAgent.enrol(fleet, { name: 'standalone' })),
      );
      for (const agent of agents) await agent.exchange();
      return agents;
    },
    async install(agents, snap = 'hello') {
      const body = { action: 'install', computer_ids: agents.map(({ id }) => id), snaps: [{ name: snap }] };
      const response = await server.app.call('POST', '/snaps', { token, body });
      if (response.status !== 200) throw new Error(`POST /snaps: ${response.status} ${response.text}`);
      return response.body.id;
    },
    async processEvents() {
      const batches = await db.query<{ id: number }>('select id from lane where open_count > 0 order by id');
      for (const { id } of batches) await server.engine.processPendingEvents(id, false);
    },
    async restart() {
      await server.close();
      server = await serve(database.url);
    },
    async close() {
      await server.close();
      await database.drop();
    },
  };
  return fleet;
}

async function serve(url: string) {
  const persistence = await openPersistence({ url, poolSize: 10, applicationName: 'served-fleet' });
  const gateway = createGateway({
    persistence,
    config: loadConfig({ FLOTILLA_ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}` }, 'stack'),
    logger: testLogger(),
    clock: systemClock,
  });
  const app = await createTestApp(persistence, { gateway: gateway.router });
  return {
    app,
    engine: createEngine({ ...persistence, clock: systemClock, settings: { expiryDays: 30 } }),
    async close() {
      await app.close();
      await gateway.close();
      await persistence.close();
    },
  };
}

/** Reads the typed JSON of the recorded fixtures into protocol values. See `typed_json` in test/fixtures/bpickle-vectors.json. */
export function fromTypedJson(json: unknown): BValue {
  if (json === null || typeof json === 'boolean' || typeof json === 'number' || typeof json === 'string') return json;
  if (Array.isArray(json)) return json.map(fromTypedJson);
  const object = json as Record<string, unknown>;
  if ('$int' in object) return BigInt(object['$int'] as string);
  if ('$float' in object) return new BFloat(floatOf(object['$float'] as string));
  if ('$bytes' in object) return Buffer.from(object['$bytes'] as string, 'hex');
  if ('$tuple' in object) return new BTuple((object['$tuple'] as unknown[]).map(fromTypedJson));
  if ('$dict' in object) {
    const entries = object['$dict'] as [unknown, unknown][];
    return new Map(entries.map(([key, value]) => [fromTypedJson(key), fromTypedJson(value)]));
  }
  const dict = emptyDict();
  for (const [key, value] of Object.entries(object)) dict[key] = fromTypedJson(value);
  return dict;
}

function floatOf(text: string): number {
  return text.endsWith('inf') ? Number(text.replace('inf', 'Infinity')) : Number(text);
}
