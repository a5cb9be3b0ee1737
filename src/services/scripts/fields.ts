import {
  isAttachmentName,
  isUsername,
  MAX_ATTACHMENT_BYTES,
  MAX_ATTACHMENTS,
  parseScript,
  type ScriptBody,
} from '../../domain/scripts/script.ts';
import type { NewAttachment } from '../../persistence/scripts/scripts.repository.ts';
import { fieldError, fieldErrors } from '../common/fields.ts';
import type { AttachmentUpload } from './model.ts';

/** @throws {DomainError} InvalidParameter unless the text begins with `#!` and an absolute path */
export function readScriptBody(text: string): ScriptBody {
  const body = parseScript(text);
  if (!body) throw fieldError('body.code', 'must begin with a line of #! and the absolute path of an interpreter');
  return body;
}

/** @throws {DomainError} InvalidParameter */
export function readUsername(text: string): string {
  if (isUsername(text)) return text;
  throw fieldError('body.username', 'must be a login name of 1 to 32 letters, digits, dots, dashes and underscores');
}

export interface AttachmentChange {
  kept: string[];
  added: NewAttachment[];
}

/** @throws {DomainError} InvalidParameter for an invalid file, or a new one without content */
export function readAttachments(
  uploads: readonly AttachmentUpload[],
  present: ReadonlyArray<{ filename: string; size: number }>,
): AttachmentChange {
  if (uploads.length > MAX_ATTACHMENTS)
    throw fieldError('body.attachments', `must not be more than ${MAX_ATTACHMENTS}`);
  const sizes = new Map(present.map(({ filename, size }) => [filename, size]));
  const change: AttachmentChange = { kept: [], added: [] };
  const names = new Set<string>();
  const errors: Array<{ path: string; message: string }> = [];
  let total = 0;
  for (const [index, { filename, content }] of uploads.entries()) {
    const addError = (name: string, message: string) =>
      errors.push({ path: `body.attachments.${index}.${name}`, message });
    if (!isAttachmentName(filename)) addError('filename', 'must be the name of a file');
    else if (names.has(filename)) addError('filename', 'comes twice');
    names.add(filename);
    const bytes = content === null ? null : readBase64(content);
    if (bytes) change.added.push({ filename, content: bytes });
    else if (content !== null) addError('content', 'must be base64');
    else if (sizes.has(filename)) change.kept.push(filename);
    else addError('content', 'is required for a new file');
    total += bytes?.length ?? sizes.get(filename) ?? 0;
  }
  if (errors.length > 0) throw fieldErrors(errors);
  if (total > MAX_ATTACHMENT_BYTES) {
    throw fieldError('body.attachments', `must not have more than ${MAX_ATTACHMENT_BYTES} bytes together`);
  }
  return change;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Decodes base64 with optional line breaks; null when it is invalid. */
export function readBase64(text: string): Buffer | null {
  const plain = text.replace(/[\r\n]/g, '');
  return BASE64.test(plain) ? Buffer.from(plain, 'base64') : null;
}
