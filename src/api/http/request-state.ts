import type { Response } from 'express';
import type { RequestMemory } from '../../process/admission/request-memory.ts';
import type { Principal } from '../../services/common/ports.ts';
import type { Operation } from './operations.ts';

/** What the middleware of a request has found out so far: `res.locals`. */
export interface RequestState {
  requestId: string;
  address: string;
  operation: Operation | undefined;
  params: Record<string, string | number>;
  query: Record<string, unknown>;
  /** The caller's; null where none is needed. */
  token: string | null;
  /** Whether the token came in a cookie, which browsers send by themselves. */
  hasCookieSession: boolean;
  principal: Principal | null;
  /** Since the rights of the caller were read. */
  hasWaited: boolean;
  /** Set for requests that may have a body. */
  memory: RequestMemory;
  responseBody: unknown;
  onHandled: Array<() => void>;
  onCompleted: Array<(status: number) => void>;
}

declare global {
  namespace Express {
    interface Locals extends RequestState {}
  }
}

/** Frees what the request holds, before its response is sent: a slow client must not hold it. */
export function releaseResources({ locals }: Response): void {
  for (const release of locals.onHandled.splice(0)) release();
}

/** @param status - to record: the one sent, 499 when the client disconnected, 500 when the response was cut off */
export function completeRequest({ locals }: Response, status: number): void {
  for (const callback of locals.onCompleted.splice(0)) callback(status);
}
