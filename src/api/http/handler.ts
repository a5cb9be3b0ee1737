import type { Request } from 'express';
import type { Origin } from '../../domain/events/events.ts';
import type { Caller } from '../../services/common/ports.ts';

export interface RequestContext {
  /** Null only for operations with `x-permission: none`. */
  caller: Caller;
  params: Record<string, string | number>;
  query: Record<string, unknown>;
  body: unknown;
  requestId: string;
  origin: Origin;
  /** The raw request; use it only for its URL and headers. */
  request: Request;
}

export interface OperationResponse {
  /** Default 200. */
  status?: number;
  body?: unknown;
  /** In place of a body: text sent in chunks as they are read. */
  stream?: { type: string; pieces: AsyncIterable<Buffer | string> };
  headers?: Record<string, string>;
}

/** Serves one operation of the OpenAPI document; throws a DomainError to reject the request. */
export type Handler = (context: RequestContext) => Promise<OperationResponse>;

/** Handlers by `operationId`. */
export type Handlers = Record<string, Handler>;
