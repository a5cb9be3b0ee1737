import { isUtf8 } from 'node:buffer';
import express, { type Request, type Response } from 'express';
import { DomainError } from '../../domain/errors.ts';
import { findJsonFault } from '../json-scan.ts';

/** Reads bodies up to a limit; made once per limit. */
const readers = new Map<number, ReturnType<typeof express.raw>>();

/**
 * Reads and parses the body of a request.
 *
 * @returns undefined when there is none
 * @throws {DomainError} PayloadTooLarge, UnsupportedMediaType, InvalidJson
 * @see api-decisions 1.2; perf-reliability B3, BODY-*
 */
export async function readJsonBody(req: Request, res: Response, limitBytes: number): Promise<unknown> {
  if (Number(req.headers['content-length'] ?? 0) > 0) checkMediaType(req);
  else if (req.headers['transfer-encoding'] === undefined) return undefined;
  const bytes = await readBodyBytes(req, res, limitBytes);
  if (bytes.length === 0) return undefined;
  checkMediaType(req);
  return parseJson(bytes);
}

/** Parses JSON text strictly: UTF-8 without byte order mark, bounded depth, no repeated keys, storable text. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes) || bytes.subarray(0, 3).equals(BYTE_ORDER_MARK))
    throw invalidJson('must be UTF-8 without byte order mark');
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidJson('is not JSON');
  }
  const fault = findJsonFault(text);
  if (fault) throw invalidJson(fault);
  return value;
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Reads a body up to a limit, whatever it is; empty when there is none. @throws {DomainError} PayloadTooLarge */
export function readBodyBytes(req: Request, res: Response, limitBytes: number): Promise<Buffer> {
  let reader = readers.get(limitBytes);
  if (!reader) {
    reader = express.raw({ type: () => true, limit: limitBytes });
    readers.set(limitBytes, reader);
  }
  const read = reader;
  return new Promise((resolve, reject) => {
    read(req, res, (error?: unknown) => {
      if (error) reject(toDomainError(error, limitBytes));
      else resolve(Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0));
    });
  });
}

function toDomainError(error: unknown, limitBytes: number): unknown {
  const type = (error as { type?: unknown }).type;
  if (type === 'entity.too.large') {
    return new DomainError('PayloadTooLarge', `The body must not have more than ${limitBytes} bytes`);
  }
  if (type === 'encoding.unsupported') {
    return new DomainError('UnsupportedMediaType', 'The content encoding is not known here');
  }
  return invalidJson('could not be read whole');
}

function checkMediaType(req: Request): void {
  const type = (req.headers['content-type'] ?? '').toLowerCase();
  if (type === 'application/json') return;
  const [media, ...parameters] = type.split(';').map((part) => part.trim());
  const charset = parameters
    .find((p) => p.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  if (media === 'application/json' && (charset === undefined || charset === 'utf-8' || charset === 'utf8')) return;
  throw new DomainError('UnsupportedMediaType', 'The body must be typed application/json, in UTF-8');
}

function invalidJson(fault: string): DomainError {
  return new DomainError('InvalidJson', `The body ${fault}`);
}
