import { isUtf8 } from 'node:buffer';
import express, { type Request, type RequestHandler } from 'express';
import { DomainError } from '../../../domain/common/errors.ts';
import { quoted } from '../../../services/common/fields.ts';
import type { Operation } from '../operations.ts';
import { openBody } from '../request/body-stream.ts';
import { isForm, readForm } from '../request/form-body.ts';
import { findJsonFault, findSyntaxFault } from '../request/json.ts';

/** JSON or, if allowed, a form. @throws {DomainError} for bad ones @see docs/decisions/0013-openapi-first.md#bodies */
export function bodyParser({ bodyLimitBytes, formFields }: Operation): RequestHandler {
  const options = { type: () => true, limit: bodyLimitBytes };
  const parseText = express.text({
    ...options,
    defaultCharset: 'utf-8',
    verify: (_req, _res, bytes) => checkUtf8(bytes),
  });
  const parseJson = express.json({ ...options, strict: false, verify: (_req, _res, bytes) => checkJson(bytes) });
  return (req, res, next) => {
    req.body = undefined;
    const contentLength = Number(req.headers['content-length'] ?? 0);
    if (contentLength === 0 && req.headers['transfer-encoding'] === undefined) return next();
    const wrongType = formFields ? null : findWrongType(req);
    if (wrongType && contentLength > 0) throw wrongType;
    let isDone = false;
    const finish = (error?: unknown): void => {
      if (isDone) return;
      isDone = true;
      next(error);
    };
    const source = openBody(req, bodyLimitBytes, res.locals.memory, finish);
    // It is checked already, and decides nothing else.
    req.headers['content-type'] = 'application/json';
    const parse = formFields ? parseText : parseJson;
    parse(source, res, (error?: unknown) => {
      try {
        if (error === EMPTY) return finish();
        if (wrongType ?? error) throw wrongType ?? error;
        req.body = formFields ? readText(source.body, formFields) : source.body;
        finish();
      } catch (error) {
        finish(toDomainError(error));
      }
    });
  };
}

/** The parser makes an empty object of an empty body. */
const EMPTY = new Error('There is no body');

type FormFields = NonNullable<Operation['formFields']>;

function readText(text: string, fields: FormFields): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  if (isForm(trimmed)) return readForm(trimmed, fields);
  checkJson(Buffer.from(text));
  try {
    return JSON.parse(text);
  } catch {
    throw notJson(text);
  }
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

function checkUtf8(bytes: Buffer): void {
  if (bytes.length === 0) throw EMPTY;
  if (isUtf8(bytes) && !bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)) return;
  throw invalidJson('is not JSON: it has to be UTF-8 text without byte order mark');
}

function checkJson(bytes: Buffer): void {
  checkUtf8(bytes);
  const fault = findJsonFault(bytes.toString('utf8'));
  if (fault) throw invalidJson(fault);
}

/** The parser adds the text to the error of `JSON.parse`. */
function toDomainError(error: unknown): unknown {
  const { type, body } = error as { type?: string; body?: unknown };
  return type === 'entity.parse.failed' && !(error instanceof DomainError) ? notJson(String(body)) : error;
}

/** The fault is not located in a longer text. */
const LONG = 128 * 1024;

function notJson(text: string): DomainError {
  const fault = text.length > LONG ? null : findSyntaxFault(text);
  const place = fault === null ? '' : `: line ${fault.line}, column ${fault.column}: ${fault.message}`;
  return invalidJson(`is not JSON${place}`);
}

function findWrongType({ headers }: Request): DomainError | null {
  const type = (headers['content-type'] ?? '').toLowerCase();
  if (type === 'application/json') return null;
  const [media, ...parameters] = type.split(';').map((part) => part.trim());
  const charset = parameters
    .find((p) => p.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  if (media === 'application/json' && (charset === undefined || charset === 'utf-8' || charset === 'utf8')) return null;
  const fault = type === '' ? 'it has no Content-Type' : `its Content-Type is ${quoted(type)}`;
  return new DomainError('UnsupportedMediaType', `The body is not JSON: ${fault}. ${HOW_TO_SEND}`);
}

const HOW_TO_SEND = `Send JSON in UTF-8 like this: curl -H 'Content-Type: application/json' -d '{"name": "value"}'`;

function invalidJson(fault: string): DomainError {
  return new DomainError('InvalidJson', `The body ${fault}`);
}
