import type { components } from '@flotilla/client';

type AccessGroup = components['schemas']['AccessGroup'];

/** An access group with those below it. */
export interface GroupNode extends AccessGroup {
  below: GroupNode[];
}

/** The access groups as a tree, in the order of their titles; a group whose parent is not in the list is at the top. */
export function groupTree(groups: readonly AccessGroup[]): GroupNode[] {
  const nodes = new Map<string, GroupNode>(groups.map((group) => [group.name, { ...group, below: [] }]));
  const roots: GroupNode[] = [];
  for (const node of nodes.values()) (nodes.get(node.parent)?.below ?? roots).push(node);
  for (const { below } of nodes.values()) below.sort((one, other) => one.title.localeCompare(other.title));
  return roots;
}

/** The groups of a tree from top to bottom, each with its depth. */
export function flatTree(nodes: readonly GroupNode[], depth = 0): Array<{ group: GroupNode; depth: number }> {
  return nodes.flatMap((group) => [{ group, depth }, ...flatTree(group.below, depth + 1)]);
}
