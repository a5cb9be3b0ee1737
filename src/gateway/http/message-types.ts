import { typeListDigest } from '../../protocol/type-digest.ts';
import { READERS } from '../facts/read-messages.ts';

export interface TypeList {
  readonly types: readonly string[];
  readonly digest: Buffer;
}

function typeList(types: readonly string[]): TypeList {
  return { types, digest: typeListDigest(types) };
}

/** For unidentified, pending and archived computers. @see docs/agent-protocol.md#message-types */
export const REGISTER_ONLY = typeList(['register']);

/** What approved computers may send. @see docs/agent-protocol.md#what-the-server-accepts */
export const EVERYTHING = typeList([...READERS.keys()]);
