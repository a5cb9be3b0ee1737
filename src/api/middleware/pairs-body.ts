import { isUtf8 } from 'node:buffer';
import type { Request } from 'express';
import type { HeldBody } from '../../body-budget.ts';
import { DomainError } from '../../domain/errors.ts';
import { readBoolean } from '../spellings.ts';
import { readBodyBytes } from './body-bytes.ts';
import { parseJson } from './json-body.ts';

export type PairKind = 'integer' | 'boolean' | 'string';

/**
 * Reads a body that may be a JSON object or `key=value` pairs, whatever media type it claims to be.
 *
 * @param kinds - types of the declared fields; pairs of other names are left out
 * @returns undefined when there is none
 * @throws {DomainError} PayloadTooLarge, ServiceUnavailable, InvalidJson when it is neither, InvalidParameter on a pair
 * in no known spelling
 * @see api-decisions 9.1
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

/** No JSON text begins with a name and an equals sign. */
const PAIRS = /^[A-Za-z_][A-Za-z0-9_]*=/;

function readPairs(sent: URLSearchParams, kinds: ReadonlyMap<string, PairKind>): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const [name, kind] of kinds) {
    const values = sent.getAll(name);
    if (values.length === 0) continue;
    if (values.length > 1 || values[0]!.includes('\0')) {
      const message = values.length > 1 ? 'must be given once' : 'must not contain U+0000';
      throw new DomainError('InvalidParameter', `body.${name} ${message}`, {
        details: [{ path: `body.${name}`, message }],
      });
    }
    body[name] = readPair(name, kind, values[0]!);
  }
  return body;
}

/** What cannot be read stays text, for the document to refuse. */
function readPair(name: string, kind: PairKind, value: string): unknown {
  if (kind === 'integer') return /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  return kind === 'boolean' ? readBoolean(`body.${name}`, value) === 'true' : value;
}
