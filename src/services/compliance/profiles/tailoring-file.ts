import { setImmediate as nextTick } from 'node:timers/promises';
import { SaxesParser } from 'saxes';
import { fieldError } from '../../common/fields.ts';

const MAX_BYTES = 1024 * 1024;
/** Some milliseconds of work, after which the event loop runs. */
const CHUNK = 64 * 1024;
const MAX_DEPTH = 100;
const MAX_ATTRIBUTES = 100;
/** Declares entities or includes other documents; checked before the XML is parsed. */
const DECLARATION = /<!\s*(?:DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION)/i;
const FOREIGN_NAMESPACE = /^http:\/\/www\.w3\.org\/(?:\d{4}\/XInclude|\d{4}\/XSL\/)/;
const FIELD = 'body.tailoring_file';

/** Requires plain, bounded XML. @throws {DomainError} InvalidParameter @see docs/api-conventions.md#limits-of-fields */
export async function checkTailoringFile(xml: string): Promise<void> {
  if (Buffer.byteLength(xml) > MAX_BYTES) throw fieldError(FIELD, 'must not be larger than 1 MiB');
  if (!xml.isWellFormed()) throw fieldError(FIELD, 'must be Unicode text');
  if (DECLARATION.test(xml)) throw fieldError(FIELD, 'must not have a document type or entities');
  const parser = new SaxesParser({ xmlns: true });
  let depth = 0;
  let attributes = 0;
  const reject = (message: string): never => {
    throw fieldError(FIELD, message);
  };
  parser.on('error', (error) => reject(`must be well-formed XML: ${error.message}`));
  parser.on('xmldecl', ({ encoding }) => {
    if (encoding && !/^(?:utf-8|us-ascii)$/i.test(encoding)) reject('must be encoded as UTF-8');
  });
  parser.on('processinginstruction', () => reject('must not have processing instructions'));
  parser.on('opentagstart', () => {
    attributes = 0;
  });
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > MAX_ATTRIBUTES) reject(`must not have more than ${MAX_ATTRIBUTES} attributes on an element`);
  });
  parser.on('opentag', ({ uri }) => {
    if (FOREIGN_NAMESPACE.test(uri)) reject('must not include other documents');
    depth += 1;
    if (depth > MAX_DEPTH) reject(`must not be nested more than ${MAX_DEPTH} deep`);
  });
  parser.on('closetag', () => {
    depth -= 1;
  });
  for (let start = 0; start < xml.length; start += CHUNK) {
    parser.write(xml.slice(start, start + CHUNK));
    await nextTick();
  }
  parser.close();
}
