import { type BObject, type BValue, isDict } from '../../../src/protocol/bpickle.ts';
import { MessageQueue } from './message-queue.ts';
import { type TypeList, typeList } from './type-list.ts';

export interface SessionHost {
  registration(): BObject;
  clientTypes(): TypeList;
  nowSeconds(): number;
  typesAccepted(added: readonly string[]): void;
  identityChanged(): void;
  /** The response came from another server, which has other ids of packages. */
  serverChanged(): void;
  resynchronize(operationId: BValue | null, scopes: readonly string[] | null): void;
  handlePackageIds(message: BObject): void;
  intervals(message: BObject): void;
  /** False ends the processing of the response at this message; the server then sends it again. */
  operation(message: BObject): boolean;
  registrationRejected(reason: string): void;
  /** The server did something that breaks real agents. */
  violation(text: string): void;
}

/** What survives a restart. */
export interface SessionRecord {
  id: string | null;
  insecure: number | null;
  clone: string | null;
  seq: number;
  next: number;
  types: readonly string[];
  api: '3.2' | '3.3';
  uuid: string | null;
}

/** When the next exchange follows; `retry` after a rejected registration. */
export type NextExchange = 'at once' | 'urgent' | 'regular' | 'retry';

export class InvalidResponse extends Error {}

const CLIENT_API = Buffer.from('3.8');
const NO_TYPES = typeList([]);

/**
 * The agent's side of the protocol without time and network: identity, both counters, token, type lists.
 * @see docs/agent-protocol.md#exchange-payloads
 */
export class Session {
  readonly queue = new MessageQueue();
  /** The server did something after which a real agent never exchanges again. */
  bricked = false;
  insecureId: number | null = null;
  serverUuid: string | null = null;
  accepted: TypeList = NO_TYPES;
  #secureId: string | null = null;
  #cloneOf: string | null = null;
  #token: Buffer | null = null;
  #next = 0;
  #api: '3.2' | '3.3' = '3.2';
  #listKnown = false;
  readonly #host: SessionHost;

  constructor(host: SessionHost, record?: SessionRecord) {
    this.#host = host;
    if (!record) return;
    this.#secureId = record.id;
    this.insecureId = record.insecure;
    this.#cloneOf = record.clone;
    this.queue.sequence = record.seq;
    this.#next = record.next;
    this.accepted = typeList(record.types);
    this.#api = record.api;
    this.serverUuid = record.uuid;
  }

  get record(): SessionRecord {
    return {
      id: this.#secureId,
      insecure: this.insecureId,
      clone: this.#cloneOf,
      seq: this.queue.sequence,
      next: this.#next,
      types: this.accepted.names,
      api: this.#api,
      uuid: this.serverUuid,
    };
  }

  get secureId(): string | null {
    return this.#secureId;
  }

  /** The server accepts more than registrations. */
  get isApproved(): boolean {
    return this.#secureId !== null && this.accepted.names.length > 1;
  }

  /** Queues a message with the current time. */
  send(message: BObject): void {
    const stamped = { ...message, api: Buffer.from(this.#api), timestamp: this.#host.nowSeconds() };
    this.queue.add(stamped, this.accepted.set);
  }

  /** Queues a message of an earlier process unchanged. */
  requeue(message: BObject): void {
    this.queue.add(message, this.accepted.set);
  }

  dropToken(): void {
    this.#token = null;
  }

  /** Makes the next payload and its headers. A token is sent once: after a failure there is none. */
  prepare(): { headers: Record<string, string>; payload: BObject; sent: number } {
    if (this.#secureId === null && this.accepted.set.has('register')) {
      this.queue.clear();
      this.send(this.#registration());
    }
    const own = this.#host.clientTypes();
    const messages = this.queue.batch();
    const payload: BObject = {
      'server-api': Buffer.from(this.#api),
      'client-api': CLIENT_API,
      sequence: this.queue.sequence,
      messages,
      'total-messages': this.queue.length,
      'next-expected-sequence': this.#next,
      'accepted-types': this.accepted.digest,
    };
    if (!this.#listKnown) payload['client-accepted-types'] = [...own.names];
    return { headers: this.#headers(), payload, sent: messages.length };
  }

  #registration(): BObject {
    const register: BObject = { type: 'register', ...this.#host.registration() };
    if (this.#cloneOf !== null) register['clone_secure_id'] = this.#cloneOf;
    return register;
  }

  #headers(): Record<string, string> {
    const headers: Record<string, string> = {
      'Content-Type': 'application/octet-stream',
      'X-Message-API': this.#api,
    };
    if (this.#secureId !== null) headers['X-Computer-ID'] = this.#secureId;
    if (this.#token !== null) headers['X-Exchange-Token'] = this.#token.toString('latin1');
    this.#token = null;
    return headers;
  }

  /**
   * @param sent - number of messages in the payload
   * @throws {InvalidResponse} if a required field is missing
   */
  receive(response: BValue, sent: number): NextExchange {
    const { messages, next, isOtherServer } = this.#readFrame(response);
    const step = this.queue.acknowledge(next, sent);
    if (step === 'start over') this.#host.resynchronize(null, null);
    else if (isOtherServer) this.#host.serverChanged();
    let atOnce = false;
    for (const message of messages) {
      if (!this.#handle(message)) break;
      this.#next++;
      atOnce ||= this.#secureId === null && message['type'] === 'accepted-types' && this.accepted.set.has('register');
    }
    if (atOnce) return 'at once';
    if (messages.some((message) => message['type'] === 'registration')) return 'retry';
    return this.queue.length > 0 || step !== 'in step' ? 'urgent' : 'regular';
  }

  #readFrame(response: BValue): { messages: BObject[]; next: number | undefined; isOtherServer: boolean } {
    if (!isDict(response)) throw new InvalidResponse('the response is not a dict');
    const { messages, 'server-uuid': uuid, 'server-api': api, 'next-exchange-token': token } = response;
    if (!Array.isArray(messages) || !messages.every(isDict) || uuid == null || api == null) {
      throw new InvalidResponse('the response lacks server-uuid, server-api or messages');
    }
    this.#api = textOf(api) >= '3.3' ? '3.3' : '3.2';
    const before = this.serverUuid;
    this.serverUuid = textOf(uuid);
    if (token instanceof Uint8Array) this.#token = Buffer.from(token);
    else if (token !== undefined) this.#host.violation('next-exchange-token is not a byte string');
    const hash = response['client-accepted-types-hash'];
    if (hash !== undefined && !(hash instanceof Uint8Array))
      this.#host.violation('client-accepted-types-hash is not a byte string');
    this.#listKnown = hash instanceof Uint8Array && this.#host.clientTypes().digest.equals(hash);
    const next = response['next-expected-sequence'];
    return {
      messages,
      next: next === undefined ? undefined : Number(next),
      isOtherServer: before !== null && before !== this.serverUuid,
    };
  }

  /** @returns false to end the processing of the response */
  #handle(message: BObject): boolean {
    switch (message['type']) {
      case 'accepted-types':
        return this.#acceptTypes(message['types']);
      case 'set-id':
        return this.#takeIdentity(message);
      case 'unknown-id':
        return this.#loseIdentity(message['clone-of']);
      case 'registration':
        this.#host.registrationRejected(String(message['info']));
        return true;
      case 'set-intervals':
        this.#host.intervals(message);
        return true;
      case 'package-ids':
        this.#host.handlePackageIds(message);
        return true;
      case 'resynchronize':
        this.#host.resynchronize(message['operation-id'] ?? null, scopesOf(message['scopes']));
        return true;
      default:
        return this.#operation(message);
    }
  }

  #acceptTypes(types: BValue | undefined): boolean {
    if (!Array.isArray(types) || !types.every((name) => typeof name === 'string')) {
      this.#host.violation('accepted-types holds something other than text');
      this.bricked = true;
      return false;
    }
    const before = this.accepted.set;
    this.accepted = typeList(types as string[]);
    this.queue.accept(this.accepted.set);
    this.#host.typesAccepted(this.accepted.names.filter((name) => !before.has(name)));
    return true;
  }

  #takeIdentity({ id, 'insecure-id': insecure }: BObject): boolean {
    if (!(id instanceof Uint8Array)) this.#host.violation('set-id.id is not a byte string');
    this.#secureId = textOf(id ?? '');
    this.insecureId = Number(insecure instanceof Uint8Array ? textOf(insecure) : insecure);
    this.#cloneOf = null;
    this.#host.identityChanged();
    return true;
  }

  #loseIdentity(cloneOf: BValue | undefined): boolean {
    if (cloneOf !== undefined) this.#cloneOf = this.#secureId;
    this.#secureId = null;
    this.insecureId = null;
    this.#host.identityChanged();
    return true;
  }

  #operation(message: BObject): boolean {
    if (message['operation-id'] === undefined) return true;
    if (this.#secureId !== null) return this.#host.operation(message);
    this.#host.violation('an operation for an agent without identity');
    return false;
  }
}

function scopesOf(scopes: BValue | undefined): string[] | null {
  return Array.isArray(scopes) ? scopes.map(String) : null;
}

function textOf(value: BValue): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value);
}
