import { typeListDigest } from '../../../src/protocol/type-digest.ts';

/** A list of message types, shared by all agents with the same one. */
export interface TypeList {
  readonly names: readonly string[];
  readonly set: ReadonlySet<string>;
  readonly digest: Buffer;
  /** The digest in hexadecimal. */
  readonly key: string;
}

const lists = new Map<string, TypeList>();

export function typeList(names: readonly string[]): TypeList {
  const digest = typeListDigest(names);
  const key = digest.toString('hex');
  let list = lists.get(key);
  if (!list) {
    list = { names: [...names], set: new Set(names), digest, key };
    lists.set(key, list);
  }
  return list;
}
