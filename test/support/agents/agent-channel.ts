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
import { MISCHIEFS, type Mischief, mischiefsOn } from './channel-mischiefs.ts';

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

/** One request on its way, in the hands of a mischief. */
export interface Passage {
  readonly sent: Sent;
  readonly random: Random;
  /** Passes the request, or another in its place, on to the server. */
  forward(sent?: Sent): Promise<Reply>;
  /** Passes bytes on as they are, on a connection of their own, and hangs up. Answers the status, 0 for none. */
  forwardRaw(bytes: Buffer): Promise<number>;
  /** Does something when the agent does not wait for it any more. */
  later(job: () => Promise<unknown>): void;
  /** Does something when the next request of the same computer has been passed on. */
  afterNext(job: () => Promise<unknown>): void;
  /** An earlier request of anybody. */
  earlier(): Sent;
  answer(reply: Reply): void;
  /** Begins an answer of this length and breaks the connection. */
  answerPart(reply: Reply, bytes: number): void;
  hangUp(): void;
  /** Notes what the server must not do. */
  complain(text: string): void;
}

const MAX_HISTORY = 400;
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host', 'expect']);

/**
 * The network between agents and a server, as bad as networks get: requests and answers are lost, doubled, delayed,
 * overtaken, cut, changed and replayed. What changes bytes changes them so that no reader can take them for a payload;
 * beyond that the protocol has no defence of its own, and leaves it to TLS.
 *
 * @see docs/reliability.md#the-network-between-agents-and-server
 */
export class AgentChannel {
  readonly url: string;
  /** What the server did that it must not do. */
  readonly complaints: string[] = [];
  /** How often each mischief was done. */
  readonly done = new Map<Mischief, number>();
  readonly #target: URL;
  readonly #server: ReturnType<typeof createServer>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
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
    server.on('request', (req, res) => void this.#pass(req, res).catch(() => res.destroy()));
  }

  /** Opens an honest channel to a server on a free port. */
  static async open(target: string): Promise<AgentChannel> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new AgentChannel(target, server);
  }

  /** From now on the share of requests is treated badly; the seed decides which and how, in the order they come. */
  turnBad(seed: number, share: number): void {
    this.#seed = seed;
    this.#share = share;
    this.#count = 0;
  }

  /** Does nothing bad any more; resolves when everything held back has been passed on. */
  async turnHonest(): Promise<void> {
    this.#share = 0;
    for (const jobs of this.#held.values()) for (const job of jobs) this.#start(job);
    this.#held.clear();
    while (this.#jobs.size > 0) await Promise.all(this.#jobs);
  }

  /** The latest request of a kind that was passed on, newest first. */
  lastSent(isWanted: (sent: Sent) => boolean): Sent | undefined {
    return this.#history.findLast(isWanted);
  }

  /** Passes one request on as it is, as from another computer's connection. */
  forward(sent: Sent): Promise<Reply> {
    return this.#forward(sent);
  }

  async close(): Promise<void> {
    await this.turnHonest();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    this.#agent.destroy();
  }

  async #pass(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const sent = await readRequest(req);
    const random = createRandom(this.#seed, 'channel', this.#count++);
    const passage = this.#passage(sent, res, random);
    const bad = random.chance(this.#share) ? random.pick(mischiefsOn(sent)) : null;
    if (bad) this.done.set(bad, (this.done.get(bad) ?? 0) + 1);
    if (bad) await MISCHIEFS[bad](passage);
    else passage.answer(await passage.forward());
    this.#history.push(sent);
    if (this.#history.length > MAX_HISTORY) this.#history.shift();
  }

  #passage(sent: Sent, res: ServerResponse, random: Random): Passage {
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
      answer: ({ status, headers, body }) => res.writeHead(status, endToEnd(headers)).end(body),
      answerPart({ status, headers, body }, bytes) {
        res.writeHead(status, { ...endToEnd(headers), 'content-length': String(body.length) });
        res.write(body.subarray(0, bytes), () => res.destroy());
      },
      hangUp: () => res.destroy(),
      complain: (text) => this.complaints.push(text),
    };
  }

  #start(job: () => Promise<unknown>): void {
    const running: Promise<unknown> = job()
      .catch((error: unknown) => this.complaints.push(`passing on failed: ${error}`))
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
        if (status >= 500) this.complaints.push(`${method} ${path} was answered ${status}`);
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
    if (status >= 500) this.complaints.push(`a broken request was answered ${status}`);
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
