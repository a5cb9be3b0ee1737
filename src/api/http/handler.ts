import type { Request, RequestHandler } from 'express';
import type { Origin } from '../../domain/events/events.ts';
import type { Caller } from '../../services/common/ports.ts';
import type { operations, PublicOperationId } from '../openapi/types.generated.ts';

import type { JsonText, RawBody } from './response-bodies.ts';

export type OperationId = keyof operations;

export interface RequestContext<Id extends OperationId> {
  /** Null exactly for operations without security. */
  caller: Id extends PublicOperationId ? null : Caller;
  params: PartOf<operations[Id]['parameters'], 'path'>;
  query: PartOf<operations[Id]['parameters'], 'query'>;
  body: BodyOf<operations[Id]['requestBody']>;
  origin: Origin;
  /** W3C trace context for the work that the request starts. */
  traceparent: string | null;
  /** The raw request; use it only for its URL and headers. */
  request: Request;
}

type PartOf<Parameters, In extends string> = Parameters extends { [K in In]?: infer Values }
  ? NonNullable<Values>
  : Record<never, never>;

type BodyOf<Given> = Given extends { content: { 'application/json': infer Body } } ? Body : undefined;

/** A success response of the operation: its status, 200 unless given, and the body that the document declares. */
export type OperationResponse<Id extends OperationId> = ResponsesOf<operations[Id]['responses']>;

type ResponsesOf<Declared> = {
  [Status in keyof Declared]: (Status extends 200 ? { status?: 200 } : { status: Status }) &
    ContentOf<Declared[Status]>;
}[keyof Declared];

type ContentOf<Declared> = Declared extends { content: { 'application/json': infer Body } }
  ? { headers?: Record<string, string> } & ({ body: Body | JsonText } | { stream: TextStream })
  : Declared extends { content: object }
    ? { body: RawBody }
    : object;

/** What the responses of all operations have in common. */
export interface AnyResponse {
  status?: number;
  body?: unknown;
  stream?: TextStream;
  headers?: Record<string, string>;
}

/** Text that is sent in chunks as they are read. */
export interface TextStream {
  type: string;
  pieces: AsyncIterable<Buffer | string>;
}

/** Serves one operation of the OpenAPI document; throws a DomainError to reject the request. */
export type Handler<Id extends OperationId> = (context: RequestContext<Id>) => Promise<OperationResponse<Id>>;

/** The middleware that serves an operation by a handler. */
export type ServeOperation = <Id extends OperationId>(id: Id, handler: Handler<Id>) => RequestHandler[];
