import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../../../tools/simulator/random.ts';
import { CHANNEL_FAULTS, type ChannelFault, faultsFor } from './channel-faults.ts';

/** A request as an agent made it. */
export interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** One request on its way from an agent to the server. */
export interface Transfer {
  readonly sent: Sent;
  readonly random: Random;
  /** Forwards the request, or another in its place, to the server. */
  forward(sent?: Sent): Promise<Reply>;
  /** Sends raw bytes on a connection of their own. @returns the status, 0 for none */
  forwardRaw(bytes: Buffer): Promise<number>;
  /** Runs a job that the agent does not wait for. */
  later(job: () => Promise<unknown>): void;
  /** Runs a job after the next request of the same computer. */
  afterNext(job: () => Promise<unknown>): void;
  /** An earlier request of any agent. */
  earlier(): Sent;
  respond(reply: Reply): void;
  /** Sends part of a response and breaks the connection. */
  respondPartly(reply: Reply, bytes: number): void;
  hangUp(): void;
  /** Records an error of the server. */
  error(text: string): void;
}

const MAX_HISTORY = 400;
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host', 'expect']);

/**
 * A faulty network between agents and a server: requests and responses are lost, duplicated, delayed, reordered, cut,
 * changed and replayed. Changed bytes are never a valid payload: against those only TLS protects.
 *
 * @see docs/reliability.md#the-network-between-agents-and-server
 */
export class AgentChannel {
  readonly url: string;
  /** Errors of the server. */
  readonly errors: string[] = [];
  readonly faultCounts = new Map<ChannelFault, number>();
  readonly #target: URL;
  readonly #server: ReturnType<typeof createServer>;
  // A kept connection that the server closes in the same moment would look like an error of the server.
  readonly #agent = new Agent({ keepAlive: false, maxSockets: 64 });
  readonly #history: Sent[] = [];
  readonly #held = new Map<string, (() => Promise<unknown>)[]>();
  readonly #jobs = new Set<Promise<unknown>>();
  #seed = 0;
  #share = 0;
  #count = 0;

  private constructor(target: string, server: ReturnType<typeof createServer>) {
    this.#target = new URL(target);
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (req, res) => void this.#handle(req, res).catch(() => res.destroy()));
  }

  /** Opens a channel without faults on a free port. */
  static async open(target: string): Promise<AgentChannel> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new AgentChannel(target, server);
  }

  /** From now on a share of the requests gets faults; the seed determines which. */
  injectFaults(seed: number, share: number): void {
    this.#seed = seed;
    this.#share = share;
    this.#count = 0;
  }

  /** Resolves when all delayed requests have been forwarded. */
  async stopFaults(): Promise<void> {
    this.#share = 0;
    for (const jobs of this.#held.values()) for (const job of jobs) this.#start(job);
    this.#held.clear();
    while (this.#jobs.size > 0) await Promise.all(this.#jobs);
  }

  /** The latest matching request. */
  lastSent(isWanted: (sent: Sent) => boolean): Sent | undefined {
    return this.#history.findLast(isWanted);
  }

  /** Forwards a request as if from another connection. */
  forward(sent: Sent): Promise<Reply> {
    return this.#forward(sent);
  }

  async close(): Promise<void> {
    await this.stopFaults();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    this.#agent.destroy();
  }

  async #handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const sent = await readRequest(req);
    const random = createRandom(this.#seed, 'channel', this.#count++);
    const transfer = this.#transfer(sent, res, random);
    const fault = random.chance(this.#share) ? random.pick(faultsFor(sent)) : null;
    if (fault) this.faultCounts.set(fault, (this.faultCounts.get(fault) ?? 0) + 1);
    if (fault) await CHANNEL_FAULTS[fault](transfer);
    else transfer.respond(await transfer.forward());
    this.#history.push(sent);
    if (this.#history.length > MAX_HISTORY) this.#history.shift();
  }

  #transfer(sent: Sent, res: ServerResponse, random: Random): Transfer {
    const computer = sent.headers['x-computer-id'] ?? sent.path;
    return {
      sent,
      random,
      forward: async (other = sent) => {
        const reply = await this.#forward(other);
        const held = this.#held.get(computer) ?? [];
        this.#held.delete(computer);
        for (const job of held) this.#start(job);
        return reply;
      },
      forwardRaw: (bytes) => this.#forwardRaw(bytes),
      later: (job) => this.#start(job),
      afterNext: (job) => this.#held.set(computer, [...(this.#held.get(computer) ?? []), job]),
      earlier: () => (this.#history.length > 0 ? random.pick(this.#history) : sent),
      respond: ({ status, headers, body }) => res.writeHead(status, endToEnd(headers)).end(body),
      respondPartly({ status, headers, body }, bytes) {
        res.writeHead(status, { ...endToEnd(headers), 'content-length': String(body.length) });
        res.write(body.subarray(0, bytes), () => res.destroy());
      },
      hangUp: () => res.destroy(),
      error: (text) => this.errors.push(text),
    };
  }

  #start(job: () => Promise<unknown>): void {
    const running: Promise<unknown> = job()
      .catch((error: unknown) => this.errors.push(`passing on failed: ${error}`))
      .finally(() => this.#jobs.delete(running));
    this.#jobs.add(running);
  }

  #forward({ method, path, headers, body }: Sent): Promise<Reply> {
    const options = { method, agent: this.#agent, headers: { ...headers, 'content-length': String(body.length) } };
    return new Promise<Reply>((resolve, reject) => {
      const out = request(new URL(path, this.#target), options);
      out.on('error', reject);
      out.on('response', async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
        const status = response.statusCode ?? 0;
        if (status >= 500) this.errors.push(`${method} ${path} got ${status}`);
        resolve({ status, headers: response.headers, body: Buffer.concat(chunks) });
      });
      out.end(body);
    });
  }

  async #forwardRaw(bytes: Buffer): Promise<number> {
    const socket = connect(Number(this.#target.port), this.#target.hostname);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.end(bytes);
    await Promise.race([closed, sleep(5000, null, { ref: false })]);
    socket.destroy();
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(Buffer.concat(chunks).toString('latin1'))?.[1] ?? 0);
    if (status >= 500) this.errors.push(`a broken request got ${status}`);
    return status;
  }
}

async function readRequest(req: IncomingMessage): Promise<Sent> {
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  const headers = endToEnd(req.headers) as Record<string, string>;
  return { method: req.method ?? 'GET', path: req.url ?? '/', headers, body: Buffer.concat(chunks) };
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}
