import { type BObject, decode, encode, isDict } from '../../../src/protocol/bpickle.ts';
import { typeListDigest } from '../../../src/protocol/type-digest.ts';
import { type RawConnection, requestBytes } from './raw-connection.ts';

/** Accepted message types; enough to get snap operations and ids of packages. */
const HANDLED_TYPES = [
  'install-snaps',
  'refresh-snaps',
  'remove-snaps',
  'package-ids',
  'resynchronize',
  'set-id',
  'set-intervals',
];

const OPERATIONS = 3;

const EXCHANGE_LIMIT = 12;

/**
 * A minimal agent: it enrols, settles and then sends empty exchanges, or reports success of its operations, with the
 * counters and tokens of a real one.
 * @see docs/agent-protocol.md#exchange-payloads
 */
export class BenchAgent {
  /** Bodies of its exchanges so far, sent and received. */
  bytes = 0;
  serverUuid = '';
  readonly #title: string;
  #secureId: string | null = null;
  #insecureId = 0;
  #token: string | null = null;
  #sequence = 0;
  #nextExpected = 0;
  #acceptedTypes: string[] = [];
  #serverKnowsTypes = false;
  /** Received operations that it has not reported yet. */
  #given: number[] = [];

  constructor(title: string) {
    this.#title = title;
  }

  get insecureId(): number {
    return this.#insecureId;
  }

  /** Registers and exchanges until the server has nothing more to send. */
  async enrol(connection: RawConnection, account: string): Promise<void> {
    const register = { type: 'register', account_name: account, computer_title: this.#title, hostname: this.#title };
    const messages = [
      { ...register, registration_password: null, tags: null, api: Buffer.from('3.3'), timestamp: now() },
    ];
    for (let i = 0; i < EXCHANGE_LIMIT; i++) {
      const received = await this.exchange(connection, this.#secureId === null && i > 0 ? messages : []);
      if (this.#secureId !== null && received.length === 0) return;
    }
    throw new Error(`${this.#title} did not enrol in ${EXCHANGE_LIMIT} exchanges`);
  }

  /**
   * One exchange.
   * @returns the messages that the server sent
   * @throws when the response is not 200
   */
  async exchange(connection: RawConnection, messages: BObject[] = []): Promise<BObject[]> {
    const body = this.#payload(messages);
    const response = await connection.request(requestBytes('POST', '/message-system', this.#headers(), body));
    if (response.status !== 200) throw new Error(`exchange returned ${response.status}`);
    const payload = decode(response.body);
    if (!isDict(payload) || !Array.isArray(payload.messages)) throw new Error('exchange response without messages');
    this.bytes += body.length + response.body.length;
    this.serverUuid = Buffer.from(payload['server-uuid'] as Uint8Array).toString('latin1');
    this.#sequence = this.#secureId === null ? 0 : this.#sequence + messages.length;
    const token = payload['next-exchange-token'];
    this.#token = token instanceof Uint8Array ? Buffer.from(token).toString('latin1') : null;
    this.#serverKnowsTypes = payload['client-accepted-types-hash'] !== undefined;
    const received = payload.messages.filter(isDict);
    for (const message of received) this.#handle(message);
    return received;
  }

  /** Fetches operations and reports their success. @returns how many there were */
  async work(connection: RawConnection): Promise<number> {
    if (this.#given.length === 0) await this.exchange(connection);
    const done = this.#given;
    this.#given = [];
    if (done.length === 0) return 0;
    const results = done.map((id) => ({ type: 'operation-result', 'operation-id': id, status: 6 }));
    await this.exchange(connection, results);
    return done.length;
  }

  #payload(messages: BObject[]): Buffer {
    const payload: BObject = {
      'server-api': Buffer.from('3.3'),
      'client-api': Buffer.from('3.8'),
      sequence: this.#sequence,
      messages,
      'total-messages': messages.length,
      'next-expected-sequence': this.#nextExpected,
      'accepted-types': typeListDigest(this.#acceptedTypes),
    };
    if (!this.#serverKnowsTypes) payload['client-accepted-types'] = HANDLED_TYPES;
    return encode(payload);
  }

  #headers(): Record<string, string> {
    const headers: Record<string, string> = { 'X-Message-API': '3.3', 'Content-Type': 'application/octet-stream' };
    if (this.#secureId !== null) headers['X-Computer-ID'] = this.#secureId;
    if (this.#token !== null) headers['X-Exchange-Token'] = this.#token;
    return headers;
  }

  #handle(message: BObject): void {
    if (this.#secureId !== null) this.#nextExpected++;
    if (typeof message['operation-id'] === 'number' && HANDLED_TYPES.indexOf(String(message.type)) < OPERATIONS) {
      this.#given.push(message['operation-id']);
    }
    if (message.type === 'accepted-types' && Array.isArray(message.types))
      this.#acceptedTypes = message.types.map(String);
    if (message.type !== 'set-id') return;
    this.#secureId = Buffer.from(message.id as Uint8Array).toString('latin1');
    this.#insecureId = Number(message['insecure-id']);
    this.#sequence = 0;
    this.#nextExpected = 0;
  }
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
