import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { createServer } from 'node:tls';
import { NativeConnection } from '@temporalio/worker';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/process/config.ts';
import { openConnection, serverOptions } from '../../temporal/client/connection.ts';
import { type Authority, type Certificate, createAuthority, HAS_OPENSSL } from '../support/http/servers.ts';
import { temporaryDirectory } from '../support/common/process.ts';
import { SERVER_ADDRESS } from '../support/temporal/temporal.ts';

const title = 'a Temporal server that requires certificates';

describe.skipIf(!HAS_OPENSSL)(HAS_OPENSSL ? title : `${title} (skipped: there is no openssl)`, () => {
  let right: Authority;
  let wrong: Authority;
  let client: Certificate;
  let port: number;
  /** Why the server broke handshakes off. */
  let rejections: string[];

  beforeEach(async () => {
    const directory = await temporaryDirectory();
    right = createAuthority(directory, 'right');
    wrong = createAuthority(directory, 'wrong');
    client = right.sign('worker');
    rejections = [];
    port = await guardServer(right, right.sign('temporal', ['DNS:temporal.example']), rejections);
  });

  function settings(over: Record<string, string> = {}) {
    return loadConfig(
      {
        FLOTILLA_TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
        FLOTILLA_TEMPORAL_TLS_CA: right.ca,
        FLOTILLA_TEMPORAL_TLS_CERT: client.cert,
        FLOTILLA_TEMPORAL_TLS_KEY: client.key,
        FLOTILLA_TEMPORAL_TLS_SERVER_NAME: 'temporal.example',
        ...over,
      },
      'stack',
    );
  }

  async function callAsClient(over?: Record<string, string>): Promise<unknown> {
    const connection = openConnection(settings(over));
    try {
      return await connection.withDeadline(Date.now() + 3000, () => connection.workflowService.getSystemInfo({}));
    } finally {
      await connection.close();
    }
  }

  it('lets clients and workers in that show theirs and trust its own', async () => {
    expect(await callAsClient()).toHaveProperty('serverVersion');
    const worker = await NativeConnection.connect(serverOptions(settings()));
    expect(await worker.workflowService.getSystemInfo({})).toHaveProperty('serverVersion');
    await worker.close();
  });

  it('is not trusted under the authority of somebody else, or another name', async () => {
    await expect(callAsClient({ FLOTILLA_TEMPORAL_TLS_CA: wrong.ca })).rejects.toThrow();
    await expect(callAsClient({ FLOTILLA_TEMPORAL_TLS_SERVER_NAME: 'other.example' })).rejects.toThrow();
    await expect(
      NativeConnection.connect(serverOptions(settings({ FLOTILLA_TEMPORAL_TLS_CA: wrong.ca }))),
    ).rejects.toThrow();
    await expect.poll(() => rejections.join()).toMatch(/unknown_ca/i);
  });

  it('rejects clients without a certificate, or with one of another authority', async () => {
    const none = { FLOTILLA_TEMPORAL_TLS_CERT: '', FLOTILLA_TEMPORAL_TLS_KEY: '' };
    await expect(callAsClient(none)).rejects.toThrow();
    const foreign = wrong.sign('stranger');
    const strange = { FLOTILLA_TEMPORAL_TLS_CERT: foreign.cert, FLOTILLA_TEMPORAL_TLS_KEY: foreign.key };
    await expect(callAsClient(strange)).rejects.toThrow();
    expect(rejections.join()).toMatch(/DID_NOT_RETURN_A_CERTIFICATE/);
  });
});

/** Puts the run's server behind one that requires of every caller a certificate of the authority. Resolves to its port. */
async function guardServer({ ca }: Authority, own: Certificate, rejections: string[]): Promise<number> {
  const [host, target] = SERVER_ADDRESS.split(':');
  const options = {
    ...{ ca: readFileSync(ca), cert: readFileSync(own.cert), key: readFileSync(own.key) },
    ...{ requestCert: true, rejectUnauthorized: true, ALPNProtocols: ['h2'] },
  };
  const sockets = new Set<{ destroy(): void }>();
  const guard = createServer(options, (outside) => {
    const inside = connect(Number(target), host!);
    for (const socket of [outside, inside]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => [outside, inside].map((each) => each.destroy()));
    }
    outside.pipe(inside).pipe(outside);
  });
  guard.on('tlsClientError', (error: NodeJS.ErrnoException) => rejections.push(error.code ?? error.message));
  guard.listen(0, '127.0.0.1');
  await once(guard, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    guard.close();
  });
  return (guard.address() as AddressInfo).port;
}
