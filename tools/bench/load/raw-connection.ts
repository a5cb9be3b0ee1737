import { connect, type Socket } from 'node:net';

/** Response to one request. */
export interface RawResponse {
  status: number;
  body: Buffer;
}

/**
 * One keep-alive HTTP/1.1 connection that sends prepared bytes and reads the responses. Far cheaper than Node's own
 * client, so that the generator does not use up the core of the measured server.
 */
export class RawConnection {
  readonly #socket: Socket;
  /** Received bytes of an incomplete response, joined only when it may be complete. */
  #chunks: Buffer[] = [];
  #size = 0;
  #needed = 0;
  #ended: Error | null = null;
  #waiting: { resolve: (response: RawResponse) => void; reject: (error: Error) => void } | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  static open(port: number): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new RawConnection(socket));
      });
    });
  }

  /** One request at a time. @throws when the connection has ended, before or meanwhile */
  request(bytes: Buffer): Promise<RawResponse> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(bytes);
    });
  }

  close(): void {
    this.#waiting = null;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#needed) return;
    const received = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    const parsed = parseResponse(received);
    if (parsed === null) {
      this.#chunks = [received];
      this.#needed = statedLength(received);
      return;
    }
    this.#chunks = parsed.length < received.length ? [received.subarray(parsed.length)] : [];
    this.#size = received.length - parsed.length;
    this.#needed = 0;
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve({ status: parsed.status, body: parsed.body });
  }

  #fail(error: Error): void {
    this.#ended ??= error;
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}

/**
 * Parses one HTTP/1.1 response from the start of `bytes`.
 * @returns null while it is incomplete; `length` is its size in bytes
 */
export function parseResponse(bytes: Buffer): (RawResponse & { length: number }) | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const head = bytes.toString('latin1', 0, headEnd);
  const status = Number(head.slice(9, 12));
  const start = headEnd + 4;
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return parseChunks(bytes, start, status);
  const end = start + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  return bytes.length < end ? null : { status, body: bytes.subarray(start, end), length: end };
}

/** Size of an incomplete response by its headers; 0 when they do not state it. */
function statedLength(bytes: Buffer): number {
  const headEnd = bytes.indexOf('\r\n\r\n');
  const length = headEnd < 0 ? null : /\r\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, headEnd));
  return length ? headEnd + 4 + Number(length[1]) : 0;
}

function parseChunks(bytes: Buffer, start: number, status: number): (RawResponse & { length: number }) | null {
  const parts: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return null;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (bytes.length < next) return null;
    if (size === 0) return { status, body: Buffer.concat(parts), length: next };
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
  }
}

/** The bytes of one HTTP/1.1 request. */
export function requestBytes(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array = new Uint8Array(),
): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1'];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (method !== 'GET') lines.push(`Content-Length: ${body.length}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}
