import { X509Certificate } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { type Certificates, ensureCertificates, SERVER_NAME } from '../../../tools/temporal-server/certificates.ts';
import { temporaryDirectory } from '../../support/common/process.ts';

async function made(): Promise<Certificates> {
  return ensureCertificates(join(await temporaryDirectory(), 'tls'));
}

/** Whether a server with the certificates of one takes a client with those of another. */
async function shakesHands(server: Certificates, client: Certificates, withCertificate = true): Promise<boolean> {
  const listener = createServer({
    ca: await readFile(server.ca),
    cert: await readFile(server.server.cert),
    key: await readFile(server.server.key),
    requestCert: true,
    rejectUnauthorized: true,
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const taken = new Promise<boolean>((resolve) => {
    listener.once('secureConnection', (socket: TLSSocket) => resolve(socket.authorized));
    listener.once('tlsClientError', () => resolve(false));
  });
  const { port } = listener.address() as { port: number };
  const own = { cert: await readFile(client.client.cert), key: await readFile(client.client.key) };
  const socket = connect({
    host: '127.0.0.1',
    port,
    ca: await readFile(client.ca),
    servername: SERVER_NAME,
    ...(withCertificate && own),
  });
  socket.on('error', () => undefined);
  try {
    return await taken;
  } finally {
    socket.destroy();
    listener.close();
  }
}

describe('the certificates of a stack', () => {
  it('let in its own clients, and nobody else', async () => {
    const [ours, theirs] = [await made(), await made()];
    expect(await shakesHands(ours, ours)).toBe(true);
    expect(await shakesHands(ours, ours, false)).toBe(false);
    expect(await shakesHands(ours, theirs)).toBe(false);
    expect(await shakesHands(ours, { ...theirs, ca: ours.ca })).toBe(false);
  });

  it('are valid for years, and readable for their owner alone', async () => {
    const { ca, server, client } = await made();
    const authority = new X509Certificate(await readFile(ca));
    expect(authority.ca).toBe(true);
    for (const { cert } of [server, client]) {
      const certificate = new X509Certificate(await readFile(cert));
      expect([certificate.ca, certificate.verify(authority.publicKey)]).toEqual([false, true]);
      expect(Date.parse(certificate.validTo) - Date.now()).toBeGreaterThan(3600 * 86_400_000);
      expect(Date.parse(certificate.validFrom)).toBeLessThan(Date.now());
    }
    expect(new X509Certificate(await readFile(server.cert)).subjectAltName).toContain(`DNS:${SERVER_NAME}`);
    for (const file of [ca, server.key, server.cert, client.key]) expect((await stat(file)).mode & 0o077).toBe(0);
  });

  it('stay the same from start to start, and are created again where one is missing or broken', async () => {
    const directory = join(await temporaryDirectory(), 'tls');
    const first = await ensureCertificates(directory);
    const before = await readFile(first.client.cert, 'utf8');
    await ensureCertificates(directory);
    expect(await readFile(first.client.cert, 'utf8')).toBe(before);
    await writeFile(first.server.cert, 'broken');
    await ensureCertificates(directory);
    expect(await readFile(first.client.cert, 'utf8')).not.toBe(before);
    expect(await shakesHands(first, first)).toBe(true);
  });
});
