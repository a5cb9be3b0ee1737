import { createHash } from 'node:crypto';

/** Kinds of relation of a package version. @see docs/agent-protocol.md#packages */
export const RELATION = {
  provides: 131_074,
  equals: 196_610,
  requires: 262_148,
  replacesOlder: 393_224,
} as const;

export const PACKAGE_TYPE = 65_537;

export type Relation = readonly [kind: number, text: string];

/** The digest that identifies a package version. @see docs/agent-protocol.md#packages */
export function packageHash(name: string, version: string, relations: readonly Relation[]): Buffer {
  const sorted = [...relations].sort(([kindA, a], [kindB, b]) => kindA - kindB || (a < b ? -1 : a > b ? 1 : 0));
  const parts = sorted.map(([kind, text]) => `[${kind} ${text}]`);
  return createHash('sha1')
    .update(`[${PACKAGE_TYPE} ${name} ${version}]${parts.join('')}`, 'ascii')
    .digest();
}
