import {
  isAttachmentName,
  isUsername,
  MAX_ATTACHMENT_BYTES,
  MAX_ATTACHMENTS,
  parseScript,
  type ScriptBody,
} from '../../domain/scripts/script.ts';
import type { AttachmentSize, NewAttachment } from '../../persistence/repositories/script-attachments.repository.ts';
import { refusedField } from '../fields.ts';
import type { AttachmentUpload } from './model.ts';

/**
 * Code and interpreter of a script's text.
 *
 * @throws {DomainError} InvalidParameter when it does not begin with `#!` and an absolute path
 */
export function readScriptBody(text: string): ScriptBody {
  const body = parseScript(text);
  if (!body) throw refusedField('body.code', 'must begin with a line of #! and the absolute path of an interpreter');
  return body;
}

/** Name of the user a script runs as. @throws {DomainError} InvalidParameter */
export function readUsername(text: string): string {
  if (isUsername(text)) return text;
  throw refusedField('body.username', 'must be a login name of 1 to 32 letters, digits, dots, dashes and underscores');
}

/** What a request makes of the files of a script. */
export interface AttachmentChange {
  kept: string[];
  added: NewAttachment[];
}

/**
 * Checks the files a script shall have.
 *
 * @param present - those it has
 * @throws {DomainError} InvalidParameter when there are too many or too large ones, names that no file can have or that
 * come twice, content that is no base64, or none for a file that is not there
 * @see api-decisions 2.5
 */
export function readAttachments(
  uploads: readonly AttachmentUpload[],
  present: readonly AttachmentSize[],
): AttachmentChange {
  if (uploads.length > MAX_ATTACHMENTS)
    throw refusedField('body.attachments', `must not be more than ${MAX_ATTACHMENTS}`);
  const sizes = new Map(present.map(({ filename, size }) => [filename, size]));
  const change: AttachmentChange = { kept: [], added: [] };
  const names = new Set<string>();
  let total = 0;
  for (const [index, { filename, content }] of uploads.entries()) {
    const path = `body.attachments.${index}`;
    if (!isAttachmentName(filename)) throw refusedField(`${path}.filename`, 'must be the name of a file');
    if (names.has(filename)) throw refusedField(`${path}.filename`, 'comes twice');
    names.add(filename);
    if (content === null) {
      if (!sizes.has(filename)) throw refusedField(`${path}.content`, 'is required for a new file');
      change.kept.push(filename);
      total += sizes.get(filename)!;
    } else {
      const bytes = readBase64(`${path}.content`, content);
      change.added.push({ filename, content: bytes });
      total += bytes.length;
    }
  }
  if (total > MAX_ATTACHMENT_BYTES) {
    throw refusedField('body.attachments', `must not have more than ${MAX_ATTACHMENT_BYTES} bytes together`);
  }
  return change;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function readBase64(path: string, text: string): Buffer {
  const plain = text.replace(/[\r\n]/g, '');
  if (!BASE64.test(plain)) throw refusedField(path, 'must be base64');
  return Buffer.from(plain, 'base64');
}
