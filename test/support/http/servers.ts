import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** Certificates are made by openssl: where it is not there, what needs them is skipped with a message. */
export const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0;

/** PEM files of a certificate and of its key. */
export interface Certificate {
  cert: string;
  key: string;
}

/** Certificates of one authority, as an operator would make them. */
export interface Authority {
  /** PEM file of its own certificate. */
  ca: string;
  /** @param names - of a server, such as `DNS:localhost` or `IP:127.0.0.1`; none for a client */
  sign(name: string, names?: readonly string[]): Certificate;
}

/** Makes an authority that signs whatever is requested, with all its files in `directory`. */
export function createAuthority(directory: string, name: string): Authority {
  const at = (file: string): string => join(directory, `${name}-${file}`);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const [ca, key] = [at('ca.pem'), at('ca.key')];
  const constraints = ['-addext', 'basicConstraints=critical,CA:TRUE'];
  openssl('req', '-x509', ...newKey, '-keyout', key, '-out', ca, '-days', '2', '-subj', `/CN=${name}`, ...constraints);
  return {
    ca,
    sign(who, names = []) {
      const made = { cert: at(`${who}.pem`), key: at(`${who}.key`) };
      const [request, extensions] = [at(`${who}.csr`), at(`${who}.ext`)];
      const usage = names.length > 0 ? `serverAuth\nsubjectAltName=${names.join(',')}` : 'clientAuth';
      writeFileSync(extensions, `basicConstraints=CA:FALSE\nextendedKeyUsage=${usage}\n`);
      openssl('req', ...newKey, '-keyout', made.key, '-out', request, '-subj', `/CN=${who}`);
      const authority = ['-CA', ca, '-CAkey', key, '-CAcreateserial', '-days', '2'];
      openssl('x509', '-req', '-in', request, '-out', made.cert, '-extfile', extensions, ...authority);
      return made;
    },
  };
}

const LISTENING = '0A';
const LOOPBACK = /^(0100007F|00000000000000000000000001000000|0000000000000000FFFF00000100007F)$/;

/** A TCP port that a process listens on. */
interface ListeningPort {
  pid: number;
  port: number;
  /** Reachable from this machine alone. */
  loopback: boolean;
}

/** Every TCP port that the processes listen on, from /proc. */
export function listeningPorts(pids: readonly number[]): ListeningPort[] {
  const sockets = new Map<string, { port: number; loopback: boolean }>();
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readFileSync(file, 'latin1').split('\n').slice(1)) {
      const columns = line.trim().split(/\s+/);
      const [address = '', port = ''] = (columns[1] ?? '').split(':');
      if (columns[3] !== LISTENING) continue;
      sockets.set(columns[9]!, { port: Number.parseInt(port, 16), loopback: LOOPBACK.test(address) });
    }
  }
  return pids.flatMap((pid) =>
    inodesOf(pid).flatMap((inode) => {
      const socket = sockets.get(inode);
      return socket ? [{ pid, ...socket }] : [];
    }),
  );
}

function inodesOf(pid: number): string[] {
  const directory = `/proc/${pid}/fd`;
  try {
    return readdirSync(directory).flatMap((name) => linkOf(join(directory, name)));
  } catch {
    return [];
  }
}

function linkOf(path: string): string[] {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.slice(1) ?? [];
  } catch {
    return [];
  }
}

interface ReceivedMail {
  from: string;
  to: string[];
  text: string;
}

export interface MailServer {
  url: string;
  received: ReceivedMail[];
  close(): Promise<void>;
}

/** A real SMTP server on a free port that keeps what it takes. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom ? mailFrom.address : '';
        received.push({ from, to: rcptTo.map(({ address }) => address), text: Buffer.concat(chunks).toString() });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as { port: number };
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A span as a collector gets it. */
export interface ReceivedSpan {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  attributes: Record<string, unknown>;
  startMs: number;
  endMs: number;
  failed: boolean;
}

/** A collector of traces that speaks OTLP over HTTP, as JSON, and keeps all it is sent. */
export interface OtlpReceiver {
  url: string;
  spans: ReceivedSpan[];
  /** All bodies as they came. */
  bodies: string[];
  close(): Promise<void>;
}

interface JsonSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status?: { code?: number };
  attributes?: Attribute[];
}

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}

interface Body {
  resourceSpans: Array<{ resource: { attributes: Attribute[] }; scopeSpans: Array<{ spans: JsonSpan[] }> }>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    if (req.method !== 'POST' || req.url !== '/v1/traces') {
      res.writeHead(404).end();
      return;
    }
    bodies.push(body);
    for (const { resource, scopeSpans } of (JSON.parse(body) as Body).resourceSpans) {
      const service = String(valuesOf(resource.attributes)['service.name']);
      for (const scope of scopeSpans) spans.push(...scope.spans.map((span) => toReceived(service, span)));
    }
    res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function toReceived(service: string, span: JsonSpan): ReceivedSpan {
  return {
    service,
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? '',
    name: span.name,
    attributes: valuesOf(span.attributes ?? []),
    startMs: Number(span.startTimeUnixNano) / 1e6,
    endMs: Number(span.endTimeUnixNano) / 1e6,
    failed: span.status?.code === 2,
  };
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
