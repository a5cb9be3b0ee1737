import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Reply {
  status: number;
  headers?: Record<string, string>;
}

/** An HTTP receiver that keeps what it gets. Replace `reply` to make it fail. */
export interface WebhookReceiver {
  /** Of a name, so that a webhook can have it where private addresses are refused when they are saved. */
  url: string;
  received: Received[];
  reply: (request: Received) => Reply | Promise<Reply>;
  close(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const got = { path: request.url!, headers: request.headers, body: Buffer.concat(chunks).toString() };
    receiver.received.push(got);
    const { status, headers = {} } = await receiver.reply(got);
    response.writeHead(status, headers).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: WebhookReceiver = {
    url: `http://localhost:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    reply: () => ({ status: 204 }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
