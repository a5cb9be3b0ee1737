import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Request } from 'express';
import { DomainError } from '../../../domain/common/errors.ts';
import type { RequestMemory } from '../../../process/admission/request-memory.ts';
import { quoted } from '../../../services/common/fields.ts';
import { findJsonFault, scanJson } from '../request/json-scan.ts';
import { findSyntaxFault } from '../request/json-syntax.ts';
import { readBodyBytes } from './body-bytes.ts';

/**
 * Reads and parses the body of a request.
 * @returns undefined when there is none
 * @throws {DomainError} PayloadTooLarge, UnsupportedMediaType, InvalidJson, ServiceUnavailable
 * @see docs/api-conventions.md#error-codes
 */
export async function readJsonBody(req: Request, limitBytes: number, memory: RequestMemory): Promise<unknown> {
  if (Number(req.headers['content-length'] ?? 0) > 0) checkMediaType(req);
  else if (req.headers['transfer-encoding'] === undefined) return undefined;
  const bytes = await readBodyBytes(req, limitBytes, memory);
  if (bytes.length === 0) return undefined;
  checkMediaType(req);
  return parseJson(bytes);
}

/**
 * Parses JSON strictly: UTF-8 without byte order mark, limited depth and number of values, no repeated keys, and only
 * text that the database can store.
 * @throws {DomainError} InvalidJson
 * @remarks Yields to the event loop while it scans a long text.
 */
export async function parseJson(bytes: Buffer): Promise<unknown> {
  if (!isUtf8(bytes) || bytes.subarray(0, 3).equals(BYTE_ORDER_MARK))
    throw invalidJson('is not JSON: it has to be UTF-8 text without byte order mark');
  const text = bytes.toString('utf8');
  const fault = await findFault(text);
  if (fault) throw invalidJson(fault);
  try {
    return JSON.parse(text);
  } catch {
    throw invalidJson(`is not JSON${text.length > LONG ? '' : placeOfFault(text)}`);
  } finally {
    if (text.length > LONG) await nextTurn();
  }
}

/** Longer texts are scanned in several turns of the event loop. */
const LONG = 128 * 1024;

async function findFault(text: string): Promise<string | null> {
  if (text.length <= LONG) return findJsonFault(text);
  const scan = scanJson(text);
  for (;;) {
    await nextTurn();
    const { done, value } = scan.next();
    if (done) {
      await nextTurn();
      return value;
    }
  }
}

function placeOfFault(text: string): string {
  const fault = findSyntaxFault(text);
  return fault === null ? '' : `: line ${fault.line}, column ${fault.column}: ${fault.message}`;
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

function checkMediaType(req: Request): void {
  const type = (req.headers['content-type'] ?? '').toLowerCase();
  if (type === 'application/json') return;
  const [media, ...parameters] = type.split(';').map((part) => part.trim());
  const charset = parameters
    .find((p) => p.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  if (media === 'application/json' && (charset === undefined || charset === 'utf-8' || charset === 'utf8')) return;
  const fault = type === '' ? 'it has no Content-Type' : `its Content-Type is ${quoted(type)}`;
  throw new DomainError('UnsupportedMediaType', `The body is not JSON: ${fault}. ${HOW_TO_SEND}`);
}

const HOW_TO_SEND = `Send JSON in UTF-8 like this: curl -H 'Content-Type: application/json' -d '{"name": "value"}'`;

function invalidJson(fault: string): DomainError {
  return new DomainError('InvalidJson', `The body ${fault}`);
}
