import { isLostRace } from '../../persistence/database/availability.ts';
import { withLogFields } from '../../process/log-fields.ts';
import { sendCopyAway, sendSpareAway } from '../enrolment/copies.ts';
import { refusalOf } from '../http/failure.ts';
import { KeyedQueue } from '../http/gate.ts';
import { REGISTER_ONLY } from '../http/message-types.ts';
import { Refusal } from '../http/refusal.ts';
import { type Arrival, acceptExchange } from './accept.ts';
import { acceptedTypesMessage, encodeAnswer, unknownIdMessage } from './answer.ts';
import { bury } from './bury.ts';
import { MAX_MESSAGES_PER_ANSWER, queueOf } from './counters.ts';
import type { ExchangeDeps, IdentifiedRequest } from './deps.ts';
import { doubtOf, recordDoubts } from './doubts.ts';
import { judge } from './freshness.ts';
import { renderPlaces } from './render.ts';
import type { Session } from './session.ts';
import type { Identified } from './session-reader.ts';

const MAX_ATTEMPTS = 5;

/** Exchanges with agents that present an identity. @see docs/agent-protocol.md#sequence-numbers-and-delivery */
export class IdentifiedExchange {
  readonly #deps: ExchangeDeps;
  readonly #queue = new KeyedQueue();

  constructor(deps: ExchangeDeps) {
    this.#deps = deps;
  }

  /** Whether an identity is that of a computer. */
  async knows(secureIdHash: Buffer): Promise<boolean> {
    return (await this.#deps.sessions.read(secureIdHash))?.kind === 'computer';
  }

  /**
   * Takes in one payload and answers it. Exchanges of one computer take effect one after another: here they wait for
   * each other, and against other processes the row's version decides.
   *
   * @throws {Refusal} 503 when others were faster too often
   */
  async handle(request: IdentifiedRequest): Promise<Buffer> {
    const key = request.secureIdHash.toString('latin1');
    return this.#queue.run(key, () => this.#untilSettled(request));
  }

  async #untilSettled(request: IdentifiedRequest): Promise<Buffer> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      try {
        const answer = await this.#attempt(request);
        if (answer) return answer;
      } catch (error) {
        if (!isLostRace(error)) throw error;
      }
    }
    throw new Refusal(503, 'ServiceUnavailable', 'Too many exchanges of this computer at once');
  }

  async #attempt(request: IdentifiedRequest): Promise<Buffer | null> {
    const { clock, metrics, sessions } = this.#deps;
    const now = clock.now();
    const identified = await sessions.read(request.secureIdHash);
    if (!identified) {
      const original = await sendSpareAway(this.#deps.db, request.secureIdHash, now);
      metrics.exchanged('unknown');
      return this.#unknown(original?.title);
    }
    const { computerId } = identified.kind === 'computer' ? identified.session : identified;
    return withLogFields({ computerId }, () => this.#exchange(identified, request, now));
  }

  /** What fails is logged here, where lines name the computer. @throws {Refusal}; lost races as they are */
  async #exchange(identified: Identified, request: IdentifiedRequest, now: Date): Promise<Buffer | null> {
    try {
      if (identified.kind === 'computer') return await this.#take(identified.session, request, now);
      this.#deps.metrics.exchanged('removed');
      await bury(this.#deps.db, identified.computerId, now);
      return await this.#unknown();
    } catch (error) {
      throw isLostRace(error) ? error : refusalOf(error, this.#deps.logger);
    }
  }

  async #take(session: Session, request: IdentifiedRequest, now: Date): Promise<Buffer | null> {
    const { contacts, metrics } = this.#deps;
    const verdict = judge(session, request);
    if (verdict === 'foreign') {
      metrics.exchanged('clone');
      this.#deps.logger.warn({ computerId: session.computerId }, 'an identity is used by two machines');
      await sendCopyAway(this.#deps.db, session.computerId, now);
      return this.#unknown(session.title);
    }
    const doubt = doubtOf(session, request);
    if (verdict === 'late') {
      metrics.exchanged('late');
      if (doubt) await recordDoubts(this.#deps.db, [doubt]);
      return this.#untouched(session);
    }
    contacts.exchanged(session.computerId, now);
    if (verdict === 'repeated') {
      metrics.exchanged('repeated');
      return this.#again(session, request.payload.sequence);
    }
    const arrival: Arrival = {
      ...request,
      session,
      now,
      arrived: request.token !== null && session.token !== null,
      doubt,
    };
    return acceptExchange(this.#deps, arrival);
  }

  async #unknown(cloneOf?: string): Promise<Buffer> {
    const messages = [unknownIdMessage(cloneOf), acceptedTypesMessage(REGISTER_ONLY.types)];
    return encodeAnswer(await this.#deps.serverUuid(), messages, null);
  }

  /** What a late payload is answered changes nothing; should its sender still be there, it can go on from here. */
  async #untouched({ computerId, inNext, token, clientTypesDigest }: Session): Promise<Buffer> {
    this.#deps.logger.info({ computerId }, 'a payload came late and was ignored');
    return encodeAnswer(await this.#deps.serverUuid(), [], {
      nextExpected: inNext!,
      token: token ?? '',
      clientTypesDigest,
    });
  }

  /** The answer to the last accepted exchange, put together anew: nothing has changed since. */
  async #again(session: Session, sequence: number): Promise<Buffer> {
    const silent = session.inNext !== null && sequence > session.inNext;
    const queue = silent ? [] : queueOf(session.controls, session.sent).slice(0, MAX_MESSAGES_PER_ANSWER);
    const places = queue.map((entry) => (entry.kind === 'control' ? entry : { ...entry, kind: 'resend' as const }));
    const messages = await renderPlaces(this.#deps.db, session, places, new Set());
    return encodeAnswer(await this.#deps.serverUuid(), messages, {
      nextExpected: session.inNext ?? sequence,
      token: session.token ?? '',
      clientTypesDigest: session.clientTypesDigest,
    });
  }
}
