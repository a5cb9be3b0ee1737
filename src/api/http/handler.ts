import type { Readable } from 'node:stream';
import { type Request, type Response, Router } from 'express';
import type { Origin } from '../../domain/events/events.ts';
import type { Caller } from '../../services/common/ports.ts';
import type { components, operations, PublicOperationId } from '../openapi/types.generated.ts';

export type { Services } from '../../services/setup/services.ts';
export type OperationId = keyof operations;
export type Schemas = components['schemas'];

export interface RequestContext<Id extends OperationId> {
  caller: Id extends PublicOperationId ? null : Caller;
  params: PartOf<operations[Id]['parameters'], 'path'>;
  query: PartOf<operations[Id]['parameters'], 'query'>;
  body: BodyOf<operations[Id]['requestBody']>;
  origin: Origin;
  traceparent: string | null;
  publicUrl: string;
  request: Request;
  response: Response;
}

type PartOf<Parameters, In extends string> = Parameters extends { [K in In]?: infer Values }
  ? NonNullable<Values>
  : Record<never, never>;

type BodyOf<Given> = Given extends { content: { 'application/json': infer Body } } ? Body : undefined;

type ResponseBody<Declared> = {
  [Status in keyof Declared]: Promise<
    Status extends 304 ? NotModified : Declared[Status] extends { content: infer Content } ? ContentBody<Content> : void
  >;
}[keyof Declared];

type ContentBody<Content> = Content extends { 'text/csv': unknown } | { 'text/event-stream': unknown }
  ? Readable
  : Content extends { 'application/json': infer Body }
    ? Body | JsonText
    : Uint8Array;

/** Returns the body of the success response that the document declares; throws a DomainError to reject the request. */
export type Handler<Id extends OperationId> = (
  context: RequestContext<Id>,
) => ResponseBody<operations[Id]['responses']>;

/** Of any operation. */
export type AnyHandler = (context: never) => Promise<unknown>;

/** By the `operationId`, which has the method and the path in the document. */
export type Handlers = { [Id in OperationId]?: Handler<Id> };

/** JSON text, for example built in the database, that is sent without being parsed. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** In place of a body that the client has: 304. */
export class NotModified {}

/** Paths are case-sensitive. */
export function createRouter(): Router {
  return Router({ caseSensitive: true });
}
