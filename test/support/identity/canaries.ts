import { randomBytes } from 'node:crypto';

/** A text that occurs nowhere by chance. */
const canary = (): string => `Kanari1-${randomBytes(9).toString('hex')}`;

/** A marker for every secret somebody gives to a stack. What the stack generates is collected from its responses. */
export const createCanaries = () => ({
  adminPassword: canary(),
  wrongPassword: canary(),
  newPassword: canary().slice(0, 30),
  guestPassword: canary(),
  wrongSecretKey: canary(),
  wrongInvitation: canary(),
  jwtSecret: `${canary()}-${canary()}`,
  encryptionKey: randomBytes(32).toString('base64'),
  smtpPassword: canary(),
  registrationKey: canary(),
  scriptCode: canary(),
  editedCode: canary(),
  refusedCode: canary(),
  attachment: canary(),
  tailoring: canary(),
  refusedTailoring: canary(),
});

export type Canaries = ReturnType<typeof createCanaries>;

/** A client that keeps every response, so that what they show can be searched. */
export class RecordingClient {
  readonly responses: Array<{ request: string; text: string }> = [];
  readonly #url: string;
  token: string | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  /** @param quoted - keeps the response out of the record: it is the one that may show a secret */
  // Tests look into bodies of every shape.
  // biome-ignore lint/suspicious/noExplicitAny: a client of whatever route
  async call(method: string, path: string, body?: unknown, options: { quoted?: boolean } = {}): Promise<any> {
    const response = await fetch(`${this.#url}/api/v2${path}`, {
      method,
      headers: {
        ...(this.token ? { authorization: `Bearer ${this.token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const headers = JSON.stringify([...response.headers]);
    if (!options.quoted)
      this.responses.push({ request: `${method} ${path}`, text: `${response.status} ${headers} ${text}` });
    return { ...(text.startsWith('{') ? JSON.parse(text) : { list: text }), status: response.status };
  }
}
