import { isUtf8 } from 'node:buffer';
import type { Request } from 'express';
import type { HeldBody } from '../../../process/body-budget.ts';
import { DomainError } from '../../../domain/common/errors.ts';
import { refusedField } from '../../../services/common/fields.ts';
import { readBoolean } from '../request/spellings.ts';
import { readBodyBytes } from './body-bytes.ts';
import { parseJson } from './json-body.ts';

export type PairKind = 'integer' | 'boolean' | 'string';

/**
 * Reads a body that may be a JSON object or `key=value` pairs, whatever media type it claims to be.
 *
 * @param kinds - types of the declared fields; pairs of other names, and values that cannot be read, stay text
 * @returns undefined when there is none
 * @throws {DomainError} PayloadTooLarge, ServiceUnavailable, InvalidJson when it is neither, InvalidParameter on a name
 * that is repeated
 */
export async function readPairsBody(
  req: Request,
  limitBytes: number,
  held: HeldBody,
  kinds: ReadonlyMap<string, PairKind>,
): Promise<unknown> {
  const bytes = await readBodyBytes(req, limitBytes, held);
  if (bytes.length === 0 || !isUtf8(bytes)) return bytes.length === 0 ? undefined : parseJson(bytes);
  const text = bytes.toString('utf8').trim();
  if (text === '') return undefined;
  if (!PAIRS.test(text)) return parseJson(bytes);
  if (text.length > MAX_PAIRS) {
    throw new DomainError('PayloadTooLarge', `Pairs must not have more than ${MAX_PAIRS} characters`);
  }
  return readPairs(new URLSearchParams(text), kinds);
}

/** Fields of this kind are a few numbers and words. */
const MAX_PAIRS = 64 * 1024;

/** Most characters of a name that are shown. */
const MAX_NAME = 100;

/** No JSON text begins with a name and an equals sign. */
const PAIRS = /^[A-Za-z_][A-Za-z0-9_]*=/;

function readPairs(sent: URLSearchParams, kinds: ReadonlyMap<string, PairKind>): Record<string, unknown> {
  // Any name may come, those of every object's properties too.
  const body = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of sent) {
    if (name in body || value.includes('\0')) {
      const message = name in body ? 'must be given once' : 'must not contain U+0000';
      throw refusedField(`body.${name.slice(0, MAX_NAME)}`, message);
    }
    body[name] = readPair(kinds.get(name) ?? 'string', value);
  }
  return body;
}

/** What cannot be read stays text, for the document to refuse. */
function readPair(kind: PairKind, value: string): unknown {
  if (kind === 'integer') return /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  const truth = kind === 'boolean' ? readBoolean(value) : null;
  return truth === null ? value : truth === 'true';
}
