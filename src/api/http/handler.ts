import type { Request } from 'express';
import type { Origin } from '../../domain/events/events.ts';
import type { Caller } from '../../services/common/ports.ts';

/** What a handler gets: validated and coerced input, and who asks. */
export interface RequestContext {
  /** Null only on operations whose `x-permission` is `none`. */
  caller: Caller;
  params: Record<string, string | number>;
  query: Record<string, unknown>;
  body: unknown;
  requestId: string;
  /** Where the request came from, as `caller.origin`. */
  origin: Origin;
  /** The raw request, for addresses and headers only. */
  request: Request;
}

export interface Reply {
  /** Default 200. */
  status?: number;
  /** Absent: no body. */
  body?: unknown;
  /** In place of a body: text that is sent piece by piece, as it is read. */
  stream?: { type: string; pieces: AsyncIterable<Buffer | string> };
  headers?: Record<string, string>;
}

/** One operation of the OpenAPI document. Throws DomainError to refuse; has no try/catch. */
export type Handler = (context: RequestContext) => Promise<Reply>;

/** Handlers by `operationId`; each `routes/<resource>.routes.ts` returns one such record. */
export type Handlers = Record<string, Handler>;
