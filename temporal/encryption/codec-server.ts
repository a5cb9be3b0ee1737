import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import express, { type Request, type RequestHandler, type Router } from 'express';
import type { EncryptionKey } from '../../src/process/config.ts';
import { DomainError } from '../../src/domain/common/errors.ts';
import { EncryptionCodec } from './payload-codec.ts';

const { Payload: ProtoPayload } = proto.temporal.api.common.v1;
const BODY_LIMIT = '4mb';

interface CodecServerOptions {
  encryptionKeys: readonly EncryptionKey[];
  allow: (request: Request) => boolean | Promise<boolean>;
}

/** `POST /encode`, `/decode` for the Temporal UI and CLI. Handlers throw DomainError. @throws without any key */
export function createCodecRouter(options: CodecServerOptions): Router {
  const codec = new EncryptionCodec(options.encryptionKeys);
  const router = express.Router();
  const authorize: RequestHandler = async (req, _res, next) => {
    if (!(await options.allow(req)))
      throw new DomainError('Unauthorized', 'a token that may read payloads is required');
    next();
  };
  const readBody: RequestHandler = (req, res, next) => {
    parseJson(req, res, (error?: unknown) => next(error === undefined ? undefined : toDomainError(error)));
  };
  const encode = respondWith((payloads) => codec.encode(payloads));
  const decode = respondWith((payloads) => codec.reveal(payloads));
  return router.post('/encode', authorize, readBody, encode).post('/decode', authorize, readBody, decode);
}

const parseJson = express.json({ limit: BODY_LIMIT, type: () => true });

function toDomainError(error: unknown): DomainError {
  return (error as { status?: number }).status === 413
    ? new DomainError('PayloadTooLarge', `the body must not exceed ${BODY_LIMIT}`)
    : new DomainError('InvalidJson', 'the body is not JSON');
}

function respondWith(convert: (payloads: Payload[]) => ReturnType<PayloadCodec['encode']>): RequestHandler {
  return async (req, res) => {
    const payloads = readPayloads(req.body);
    const converted = await convert(payloads).catch((error: Error) => {
      throw badPayloads(error.message, error.message);
    });
    res.json({
      payloads: converted.map((payload) => ProtoPayload.toObject(ProtoPayload.fromObject(payload), { bytes: String })),
    });
  };
}

function readPayloads(body: unknown): Payload[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw badPayloads('must be a list of payloads');
  // Protobuf JSON omits an empty list: the CLI sends this for a signal without payload.
  const payloads = (body as { payloads?: unknown }).payloads ?? [];
  if (!Array.isArray(payloads) || !payloads.every(isProtoPayload)) throw badPayloads('must be a list of payloads');
  try {
    return payloads.map((payload) => ProtoPayload.fromObject(payload));
  } catch {
    throw badPayloads('must have their bytes in base64');
  }
}

function badPayloads(detail: string, message = `body.payloads ${detail}`): DomainError {
  return new DomainError('InvalidParameter', message, { details: [{ path: 'body.payloads', message: detail }] });
}

function isProtoPayload(value: unknown): value is { metadata?: Record<string, string>; data?: string } {
  if (typeof value !== 'object' || value === null) return false;
  const { metadata = {}, data = '' } = value as { metadata?: unknown; data?: unknown };
  if (typeof metadata !== 'object' || metadata === null || typeof data !== 'string') return false;
  return Object.values(metadata).every((entry) => typeof entry === 'string');
}
