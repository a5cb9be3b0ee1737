import type { Session } from '../../domain/agents/session.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { expectClone, expectSpareOwner, recordSuspectedClones } from '../../persistence/agents/clones.sql.ts';
import { deleteIdentity } from '../../persistence/agents/identities.sql.ts';
import type { Identified } from '../../persistence/agents/sessions.sql.ts';
import { isSerializationFailure } from '../../persistence/database/errors.ts';
import { ConcurrencyLimiter } from '../../process/admission/concurrency-limiter.ts';
import { withLogFields } from '../../process/log-fields.ts';
import { REGISTER_ONLY } from '../http/message-types.ts';
import { toDomainError } from '../http/response.ts';
import { MAX_MESSAGES_PER_RESPONSE, outgoingQueue } from './counters.ts';
import type { ExchangeDeps, IdentifiedRequest } from './deps.ts';
import { ingestPayload } from './ingest.ts';
import { buildMessages } from './operation-messages.ts';
import { toSlot } from './plan-response.ts';
import { acceptedTypesMessage, encodeResponse, unknownIdMessage } from './response.ts';
import { suspectClone } from './suspected-clones.ts';
import { classifyPayload } from './token.ts';

const MAX_ATTEMPTS = 5;

/** Exchanges with agents that present an identity. @see docs/agent-protocol.md#sequence-numbers-and-delivery */
export class IdentifiedExchange {
  readonly #deps: ExchangeDeps;
  readonly #oneByOne = new ConcurrencyLimiter({ concurrencyPerKey: 1 });

  constructor(deps: ExchangeDeps) {
    this.#deps = deps;
  }

  /** Whether a computer has this identity; false for removed computers. */
  async isKnown(secureIdHash: Buffer): Promise<boolean> {
    return (await this.#deps.store.readSession(secureIdHash))?.kind === 'computer';
  }

  /** Serialized per computer, by a queue and by the row's version. @throws {DomainError} 503 on conflicts */
  async handle(request: IdentifiedRequest): Promise<Buffer> {
    return this.#oneByOne.run(request.secureIdHash.toString('latin1'), async () => {
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
        try {
          const response = await this.#attempt(request);
          if (response) return response;
        } catch (error) {
          if (!isSerializationFailure(error)) throw error;
        }
      }
      throw new DomainError('ServiceUnavailable', 'Too many exchanges of this computer at once');
    });
  }

  async #attempt(request: IdentifiedRequest): Promise<Buffer | null> {
    const { db, clock, metrics, store } = this.#deps;
    const now = clock.now();
    const identified = await store.readSession(request.secureIdHash);
    if (!identified) {
      const original = await expectSpareOwner(db, request.secureIdHash, now);
      metrics.exchanged('unknown');
      return this.#unknownIdResponse(original?.title);
    }
    const { computerId } = identified.kind === 'computer' ? identified.session : identified;
    return withLogFields({ computerId }, () => this.#exchange(identified, request, now));
  }

  /** Errors become {@link DomainError} and are logged with the computer; version conflicts are rethrown. */
  async #exchange(identified: Identified, request: IdentifiedRequest, now: Date): Promise<Buffer | null> {
    try {
      if (identified.kind === 'computer') return await this.#exchangeSession(identified.session, request, now);
      this.#deps.metrics.exchanged('removed');
      await deleteIdentity(this.#deps.db, identified.computerId, now);
      return await this.#unknownIdResponse();
    } catch (error) {
      throw isSerializationFailure(error) ? error : toDomainError(error, this.#deps.logger);
    }
  }

  async #exchangeSession(session: Session, request: IdentifiedRequest, now: Date): Promise<Buffer | null> {
    const { db, contacts, metrics, logger } = this.#deps;
    const { computerId } = session;
    const kind = classifyPayload(session, request);
    if (kind === 'clone') {
      metrics.exchanged('clone');
      logger.warn({ computerId }, 'an identity is used by two machines');
      await expectClone(db, computerId, now);
      return this.#unknownIdResponse(session.title);
    }
    const suspicion = suspectClone(session, request);
    if (kind === 'late') {
      metrics.exchanged('late');
      logger.info({ computerId }, 'a delayed payload was ignored');
      if (suspicion) await recordSuspectedClones(db, [suspicion]);
      return this.#lateResponse(session);
    }
    contacts.exchanged(computerId, now);
    if (kind === 'repeated') {
      metrics.exchanged('repeated');
      return this.#repeatedResponse(session, request.payload.sequence);
    }
    const confirmsLastResponse = request.token !== null && session.token !== null;
    return ingestPayload(this.#deps, { ...request, session, now, confirmsLastResponse, suspicion });
  }

  async #unknownIdResponse(cloneOf?: string): Promise<Buffer> {
    const messages = [unknownIdMessage(cloneOf), acceptedTypesMessage(REGISTER_ONLY.types)];
    return encodeResponse(await this.#deps.serverUuid(), messages, null);
  }

  /** Changes nothing; a sender that still waits for the response can continue from here. */
  async #lateResponse({ inNext, token, clientTypesDigest }: Session): Promise<Buffer> {
    const counters = { nextExpected: inNext!, token: token ?? '', clientTypesDigest };
    return encodeResponse(await this.#deps.serverUuid(), [], counters);
  }

  async #repeatedResponse(session: Session, sequence: number): Promise<Buffer> {
    const hasGap = session.inNext !== null && sequence > session.inNext;
    const queue = hasGap ? [] : outgoingQueue(session.controls, session.sent).slice(0, MAX_MESSAGES_PER_RESPONSE);
    const messages = await buildMessages(this.#deps.db, session, queue.map(toSlot), new Set());
    return encodeResponse(await this.#deps.serverUuid(), messages, {
      nextExpected: session.inNext ?? sequence,
      token: session.token ?? '',
      clientTypesDigest: session.clientTypesDigest,
    });
  }
}
