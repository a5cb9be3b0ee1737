import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { parseResponse, RawConnection, requestBytes } from '../../tools/bench/load/raw-connection.ts';

const response = (text: string) => parseResponse(Buffer.from(text, 'latin1'));

describe('parseResponse', () => {
  it('reads a response by its length and leaves the rest', () => {
    const read = response('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP');
    expect(read?.status).toBe(200);
    expect(read?.body.toString()).toBe('ok');
    expect(read?.length).toBe(40);
  });

  it('puts chunks together', () => {
    const text = 'HTTP/1.1 503 Nope\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n';
    expect(response(text)?.status).toBe(503);
    expect(response(text)?.body.toString()).toBe('abc0123456789');
    expect(response(text)?.length).toBe(text.length);
  });

  it('waits for every byte', () => {
    for (const text of [
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
    ]) {
      for (let cut = 0; cut < text.length; cut++) expect(response(text.slice(0, cut))).toBeNull();
      expect(response(text)).not.toBeNull();
    }
  });

  it('takes a response without body and length as empty', () => {
    expect(response('HTTP/1.1 204 No Content\r\n\r\n')?.body.length).toBe(0);
  });
});

describe('requestBytes', () => {
  it('states the length of what it sends', () => {
    const text = requestBytes('POST', '/ping', { A: 'b' }, Buffer.from('xyz')).toString();
    expect(text).toBe('POST /ping HTTP/1.1\r\nHost: 127.0.0.1\r\nA: b\r\nContent-Length: 3\r\n\r\nxyz');
  });
});

describe('RawConnection', () => {
  it('rejects a request once the server has closed it', async () => {
    const closed = Promise.withResolvers<void>();
    const server = createServer((socket) => {
      socket.once('close', () => closed.resolve());
      socket.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const connection = await RawConnection.open((server.address() as { port: number }).port);
    try {
      await closed.promise;
      await expect(connection.request(requestBytes('GET', '/', {}))).rejects.toThrow();
      await expect(connection.request(requestBytes('GET', '/', {}))).rejects.toThrow('closed the connection');
    } finally {
      connection.close();
      server.close();
    }
  });
});
