import { setTimeout as delay } from 'node:timers/promises';

export interface StreamMessage {
  id?: string;
  event?: string;
  data?: string;
  comment?: string;
}

export interface EventStream {
  response: Response;
  messages: StreamMessage[];
  /** Waits for the first message that satisfies `accepts`. */
  until(accepts: (message: StreamMessage) => boolean, limitMs?: number): Promise<StreamMessage>;
  /** Waits until the server has closed the stream. */
  ended: Promise<void>;
  close(): void;
}

/** Opens a stream of server-sent events. */
export async function openEventStream(
  url: string,
  token: string,
  headers: Record<string, string> = {},
): Promise<EventStream> {
  const stopping = new AbortController();
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: stopping.signal,
  });
  const messages: StreamMessage[] = [];
  const ended = read(response, messages).catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  return {
    response,
    messages,
    ended,
    close: () => stopping.abort(),
    async until(accepts, limitMs = 10_000) {
      const endsAt = performance.now() + limitMs;
      for (;;) {
        const found = messages.find(accepts);
        if (found) return found;
        if (performance.now() > endsAt) throw new Error(`no such message among ${JSON.stringify(messages)}`);
        await delay(10);
      }
    },
  };
}

async function read(response: Response, messages: StreamMessage[]): Promise<void> {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const parts = text.split('\n\n');
    text = parts.pop()!;
    messages.push(...parts.map(parse));
  }
}

function parse(block: string): StreamMessage {
  const message: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const [, name, value] = /^(\w*): ?(.*)$/.exec(line)!;
    message[name === '' ? 'comment' : name!] = value!;
  }
  return message;
}
